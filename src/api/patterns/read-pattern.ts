import { RE2JS } from 're2js';
import { MAX_PATTERN_SIZE, PATTERN_TOO_LARGE, patternSize } from './pattern-size';

/** Why a text is no pattern, in the words of Go's parser. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** A class counts as one part, however many characters it lists. */
const MAX_LENGTH = 64 * 1024;

/** The pattern that a text says, which matches in linear time. Throws a {@link PatternError}, also for one that would be too large. */
export function readPattern(text: string): RE2JS {
  if (text.length > MAX_LENGTH || patternSize(text) > MAX_PATTERN_SIZE) throw new PatternError(PATTERN_TOO_LARGE);
  try {
    return RE2JS.compile(text);
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message : String(error));
  }
}
