import { stringifyExact } from './codec/exact-json';
import type { JsonObject, JsonValue } from './object';

/** JSON with the keys of maps in order and without spaces: one text for all spellings of a value. Absent members are left out. */
export function sortedJson(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return stringifyExact(value);
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(sortedJson).join(',')}]`;
  const object = value as JsonObject;
  const members = Object.keys(object)
    .sort()
    .filter((key) => object[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${sortedJson(object[key] as JsonValue)}`);
  return `{${members.join(',')}}`;
}
