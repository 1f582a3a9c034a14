import { keysOf } from '../parts';
import { sortInRuns, sortNames } from '../sort-in-runs';

/**
 * The keys of a map as Go orders them, by the bytes of their UTF-8. That is the order of UTF-16 units but for
 * characters beyond the basic plane.
 */
export function sortedKeys(map: object): readonly string[] {
  const keys = keysOf(map);
  let previous = '';
  let isSorted = true;
  for (const key of keys) {
    if (BEYOND_UNITS.test(key)) return sortedByBytes(keys);
    isSorted &&= previous <= key;
    previous = key;
  }
  return isSorted ? keys : sortNames([...keys]);
}

const BEYOND_UNITS = /[\ud800-\uffff]/;

interface KeyBytes {
  readonly key: string;
  readonly bytes: Buffer;
}

function sortedByBytes(keys: readonly string[]): readonly string[] {
  const all: KeyBytes[] = [];
  for (const key of keys) all.push({ key, bytes: Buffer.from(key) });
  const sorted: string[] = [];
  for (const { key } of sortInRuns(all, compareBytes)) sorted.push(key);
  return sorted;
}

function compareBytes(left: KeyBytes, right: KeyBytes): number {
  return Buffer.compare(left.bytes, right.bytes);
}
