import { stringifyExact } from './codec/exact-json';
import type { JsonObject, JsonValue } from './object';
import { sortNames } from './sort-in-runs';

/** JSON with the keys of maps in order and without spaces: one text for all spellings of a value. Absent members are left out. */
export function sortedJson(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return stringifyExact(value);
  if (Array.isArray(value)) return sortedList(value as readonly JsonValue[]);
  return sortedMap(value as JsonObject);
}

function sortedList(items: readonly JsonValue[]): string {
  let text = '[';
  for (const item of items) text += (text === '[' ? '' : ',') + sortedJson(item);
  return `${text}]`;
}

function sortedMap(map: JsonObject): string {
  let text = '{';
  for (const name of sortNames(Object.keys(map))) {
    const value = map[name];
    if (value !== undefined) text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${sortedJson(value)}`;
  }
  return `${text}}`;
}
