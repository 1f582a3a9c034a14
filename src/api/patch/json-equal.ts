/** True when both are the same plain data. The order of keys does not matter; absent and undefined are one. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    return Array.isArray(left) && Array.isArray(right) && equalLists(left, right);
  }
  return equalMaps(left as Readonly<Record<string, unknown>>, right as Readonly<Record<string, unknown>>);
}

function equalLists(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (!jsonEqual(left[index], right[index])) return false;
  return true;
}

/** {@link jsonEqual} for two objects, as if neither had the members of these names. */
export function equalApartFrom(names: ReadonlySet<string>, left: object, right: object): boolean {
  return equalMaps(left as Readonly<Record<string, unknown>>, right as Readonly<Record<string, unknown>>, names);
}

export const NONE: ReadonlySet<string> = new Set();

/** Walks keys without making lists or copies of them: this runs over whole objects with each write. */
function equalMaps(
  left: Readonly<Record<string, unknown>>,
  right: Readonly<Record<string, unknown>>,
  ignored: ReadonlySet<string> = NONE,
): boolean {
  let unmatched = 0;
  for (const key in left) {
    const value = left[key];
    if (value === undefined || ignored.has(key)) continue;
    if (!Object.hasOwn(right, key) || !jsonEqual(value, right[key])) return false;
    unmatched += 1;
  }
  for (const key in right) {
    if (right[key] === undefined || ignored.has(key)) continue;
    unmatched -= 1;
    if (unmatched < 0) return false;
  }
  return unmatched === 0;
}
