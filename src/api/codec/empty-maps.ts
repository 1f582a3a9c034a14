/**
 * Maps that were sent empty. An object in canonical form has none of them, but Go's decoder keeps them, and the messages
 * of validation, which print Go values, tell `map[string]string{}` from `map[string]string(nil)`.
 */
const emptyMaps = new WeakMap<object, string[]>();

export function rememberEmptyMap(owner: object, field: string): void {
  const fields = emptyMaps.get(owner);
  if (fields === undefined) emptyMaps.set(owner, [field]);
  else fields.push(field);
}

export function hadEmptyMap(owner: unknown, field: string): boolean {
  return typeof owner === 'object' && owner !== null && emptyMaps.get(owner)?.includes(field) === true;
}
