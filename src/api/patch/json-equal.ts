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
  return left.length === right.length && left.every((item, index) => jsonEqual(item, right[index]));
}

function equalMaps(left: Readonly<Record<string, unknown>>, right: Readonly<Record<string, unknown>>): boolean {
  let present = 0;
  for (const [key, value] of Object.entries(left)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(right, key) || !jsonEqual(value, right[key])) return false;
    present += 1;
  }
  for (const value of Object.values(right)) if (value !== undefined) present -= 1;
  return present === 0;
}
