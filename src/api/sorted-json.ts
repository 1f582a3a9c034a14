import { stringifyExact } from './codec/exact-json';
import type { JsonObject, JsonValue } from './object';
import { sortNames } from './sort-in-runs';

/**
 * JSON with the keys of maps in order and without spaces: one text for all spellings of a value. Absent members are left out. Behind
 * its first `most` characters it may be anything, and ends soon.
 */
export function sortedJson(value: JsonValue, most = Infinity): string {
  if (typeof value === 'string' && value.length > most) return JSON.stringify(value.slice(0, Math.max(most, 0) + 1));
  if (value === null || typeof value !== 'object') return stringifyExact(value);
  if (Array.isArray(value)) return sortedList(value as readonly JsonValue[], most);
  return sortedMap(value as JsonObject, most);
}

function sortedList(items: readonly JsonValue[], most: number): string {
  let text = '[';
  for (const item of items) {
    if (text.length > most) return text;
    text += (text === '[' ? '' : ',') + sortedJson(item, most - text.length);
  }
  return `${text}]`;
}

function sortedMap(map: JsonObject, most: number): string {
  let text = '{';
  for (const name of sortNames(Object.keys(map))) {
    if (text.length > most) return text;
    const value = map[name];
    if (value === undefined) continue;
    text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:`;
    text += sortedJson(value, most - text.length);
  }
  return `${text}}`;
}
