import { JsonPieces, MalformedJsonError, TooManyValuesError } from '../codec/json-pieces';
import { JsonSyntaxError } from '../codec/json-syntax';
import type { Steps } from '../parts';

/** Values that a text may have which is read in steps, and how much of it is read at once. */
const LONG_TEXT = { maxValues: 100_000, pieceBytes: 16 * 1024 };

/**
 * Why a text is no JSON object, in the words of Go's decoder, which messages of the API quote; undefined when it is one.
 * `null` counts as an object without fields.
 */
export function goJsonObjectProblem(text: string): string | undefined {
  const parsed = parse(text);
  if ('problem' in parsed) return parsed.problem;
  return objectProblem(parsed.value);
}

/** The same in steps, for a long text, which may have so many values and nest so deep as a request's body. */
export function* goJsonObjectSteps(text: string): Steps<string | undefined> {
  try {
    return objectProblem(yield* new JsonPieces(Buffer.from(text), LONG_TEXT).steps());
  } catch (error) {
    if (error instanceof MalformedJsonError) return goJsonObjectProblem(text);
    if (error instanceof JsonSyntaxError || error instanceof TooManyValuesError) return error.message;
    throw error;
  }
}

function objectProblem(value: unknown): string | undefined {
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}

function parse(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: syntaxProblem(text, error) };
  }
}

function syntaxProblem(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const position = Number(/at position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  const character = Number.isNaN(position) ? /^Unexpected token '(.)'/u.exec(message)?.[1] : text.charAt(position);
  return character === undefined || character === '' || position >= text.length
    ? 'unexpected end of JSON input'
    : `invalid character '${character}' looking for beginning of value`;
}
