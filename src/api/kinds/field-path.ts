import { isPlainMap } from './field-values';

/** Names of fields from the outside in; `*` stands for each item of a list. */
export type FieldPath = readonly string[];

/** `spec.ingress.*.ports`: no field of the API has a dot in its name. */
export function parseFieldPath(text: string): FieldPath {
  return text.split('.');
}

/**
 * The value with every field that the path leads to changed; a change to undefined takes the field out. What is not on
 * the way is shared with the value, and where nothing changes it is the value itself.
 */
export function changeFields<Value>(value: Value, path: FieldPath, change: (field: unknown) => unknown): Value {
  return changeAt(value, path, 0, change) as Value;
}

function changeAt(value: unknown, path: FieldPath, depth: number, change: (field: unknown) => unknown): unknown {
  const name = path[depth];
  if (name === undefined) return change(value);
  if (name === '*') {
    if (!Array.isArray(value)) return value;
    const items = value.map((item: unknown) => changeAt(item, path, depth + 1, change));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlainMap(value) || value[name] === undefined) return value;
  const changed = changeAt(value[name], path, depth + 1, change);
  if (changed === value[name]) return value;
  if (changed !== undefined) return { ...value, [name]: changed };
  const { [name]: _gone, ...rest } = value;
  return rest;
}

/** Whether there is any field that the path leads to. */
export function hasField(value: unknown, path: FieldPath): boolean {
  let found = false;
  changeFields(value, path, (field) => {
    found ||= field !== undefined && field !== null;
    return field;
  });
  return found;
}
