import { RE2JS } from 're2js';

/** Why a text is no pattern, in the words of Go's parser; undefined when it is one. */
export function patternProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
