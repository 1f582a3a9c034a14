import type { JsonValue } from '../object';
import { sortedJson } from '../sorted-json';

/** `<`, `>`, `&` and the two line separators are escaped by Go's JSON writer, inside FieldsV1 as everywhere. */
const GO_ESCAPES = /[<>&\u2028\u2029]/g;

function goEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** What needs no escapes, as nearly all names. */
const PLAIN = /^[\w./ -]*$/;

/** JSON as Go writes it: map keys sorted, no spaces, HTML escaped. Absent (undefined) members are left out. */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`;
  return escapeAll(sortedJson(value));
}

/** Characters of a text that are looked at together: each of them may have to be escaped. */
const PIECE_LENGTH = 1024;

function escapeAll(text: string): string {
  let escaped = '';
  for (let start = 0; start < text.length; start += PIECE_LENGTH) {
    escaped += text.slice(start, start + PIECE_LENGTH).replace(GO_ESCAPES, goEscape);
  }
  return escaped;
}
