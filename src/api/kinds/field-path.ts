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

/** All fields that the path leads to, but for those that are null. */
export function fieldsAt(value: unknown, path: FieldPath): readonly unknown[] {
  const found: unknown[] = [];
  changeFields(value, path, (field) => {
    if (field !== undefined && field !== null) found.push(field);
    return field;
  });
  return found;
}
