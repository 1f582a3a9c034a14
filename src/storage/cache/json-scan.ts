import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../api/codec/json-bytes';

/** Finds the ends of values in JSON text without parsing it. Well-formed text without white space is expected. */

/** The position after the string that opens at `start`. */
export function endOfString(body: Buffer, start: number): number {
  let at = start + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** The position after the value at `start`; -1 when the text ends within it. */
export function endOfValue(body: Buffer, start: number): number {
  let at = start;
  let depth = 0;
  while (at < body.length) {
    const byte = body[at];
    if (byte === QUOTE) {
      at = endOfString(body, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      // The end of a number or literal is the end of what holds it.
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
    at++;
  }
  return -1;
}
