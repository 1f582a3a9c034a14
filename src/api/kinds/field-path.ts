import { fillsLater, mapEach } from '../fill-later';
import { isPlainMap } from './field-values';

/** Names of fields from the outside in; `*` stands for each item of a list. */
export type FieldPath = readonly string[];

/** `spec.ingress.*.ports`: no field of the API has a dot in its name. */
export function parseFieldPath(text: string): FieldPath {
  return text.split('.');
}

/**
 * The value with every field that the path leads to changed; a change to undefined takes the field out. What is not on
 * the way is shared with the value, and where nothing changes it is the value itself, unless that is told only later
 * ({@link fillsLater}).
 */
export function changeFields<Value>(value: Value, path: FieldPath, change: (field: unknown) => unknown): Value {
  return changeAt(value, path, 0, change) as Value;
}

function changeAt(value: unknown, path: FieldPath, depth: number, change: (field: unknown) => unknown): unknown {
  const name = path[depth];
  if (name === undefined) return change(value);
  if (name === '*') {
    if (!Array.isArray(value)) return value;
    const list: readonly unknown[] = value;
    const items = mapEach(list, (item) => changeAt(item, path, depth + 1, change));
    return fillsLater(list) || items.some((item, index) => item !== value[index]) ? items : value;
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
  addFieldsAt(value, path, 0, found);
  return found;
}

function addFieldsAt(value: unknown, path: FieldPath, depth: number, found: unknown[]): void {
  const name = path[depth];
  if (value === undefined || value === null) return;
  if (name === undefined) found.push(value);
  else if (name !== '*') addFieldsAt(isPlainMap(value) ? value[name] : undefined, path, depth + 1, found);
  else if (Array.isArray(value)) for (const item of value) addFieldsAt(item, path, depth + 1, found);
}
