import { keysOf } from '../parts';

/**
 * The keys of a map as Go orders them, by the bytes of their UTF-8. That is the order of UTF-16 units but for
 * characters beyond the basic plane.
 */
export function sortedKeys(map: object): readonly string[] {
  const keys = keysOf(map);
  let previous = '';
  for (const key of keys) {
    if (key < previous || /[\ud800-\uffff]/.test(key)) return sortKeys(keys);
    previous = key;
  }
  return keys;
}

function sortKeys(keys: readonly string[]): readonly string[] {
  return keys.some((key) => /[\ud800-\uffff]/.test(key))
    ? keys
        .map((key) => ({ key, bytes: Buffer.from(key) }))
        .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
        .map(({ key }) => key)
    : [...keys].sort();
}
