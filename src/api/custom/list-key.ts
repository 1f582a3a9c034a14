import { isJsonObject } from './json-schema';
import type { JsonValue } from '../object';
import { sortedJson } from '../sorted-json';

/** The same for items that stand for one another in two lists (`x-kubernetes-list-map-keys`). */
export function listKeyOf(item: JsonValue, keys: readonly string[]): string {
  const map = isJsonObject(item) ? item : {};
  return sortedJson(keys.map((key) => (Object.hasOwn(map, key) ? (map[key] ?? null) : null)));
}
