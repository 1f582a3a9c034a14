/** How the API words a value that does not follow a pattern; clients print these sentences. */

/** `... (e.g. 'a',  or 'b', regex used for validation is '...')`; the doubled space is the wire's. */
export function patternProblem(rule: string, pattern: string, ...examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return examples.length === 0
    ? `${rule} (regex used for validation is '${pattern}')`
    : `${rule} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

/** A value is too long; lengths of names and labels count bytes, which for valid ones are characters. */
export function lengthProblem(limit: number): string {
  return `must be no more than ${limit} characters`;
}

export const EMPTY_PROBLEM = 'must be non-empty';

/** Length in UTF-8, which is how the API counts. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
