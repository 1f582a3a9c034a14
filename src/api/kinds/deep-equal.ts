import { isPlainMap, valueAt } from './field-values';

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/**
 * True when both are the same plain data; key order does not matter, absent, null and an empty list
 * are one, as the store does not tell them apart.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isNothing(left) && isNothing(right)) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) return false;
    for (let index = 0; index < left.length; index += 1) if (!deepEqual(left[index], right[index])) return false;
    return true;
  }
  if (!isPlainMap(left) || !isPlainMap(right)) return false;
  for (const key of Object.keys(left)) if (!deepEqual(left[key], valueAt(right, key))) return false;
  for (const key of Object.keys(right)) if (!isNothing(right[key]) && !Object.hasOwn(left, key)) return false;
  return true;
}
