import { RE2JS } from 're2js';
import { MAX_PATTERN_SIZE, PATTERN_TOO_LARGE, patternSize } from '../patterns/pattern-size';

/** Why a text is no pattern, in the words of Go's parser; undefined when it is one. */
export function patternProblem(pattern: string): string | undefined {
  if (patternSize(pattern) > MAX_PATTERN_SIZE) return PATTERN_TOO_LARGE;
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
