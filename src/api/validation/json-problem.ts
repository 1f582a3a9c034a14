/**
 * Why a text is no JSON object, in the words of Go's decoder, which messages of the API quote; undefined when it is one.
 * `null` counts as an object without fields.
 */
export function goJsonObjectProblem(text: string): string | undefined {
  const parsed = parse(text);
  if ('problem' in parsed) return parsed.problem;
  const { value } = parsed;
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
