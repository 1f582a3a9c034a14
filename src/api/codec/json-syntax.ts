/**
 * JSON text: parsed by the platform; when that fails, explained in the words that clients know from kube-apiserver.
 * `__proto__` is a key like any other, for JSON.parse makes it an own property.
 */

import { endOfString, hasLongInteger, readExactly } from './exact-json';

/** Thrown for a text that is no JSON, or nests too deep. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/**
 * How deep values may nest. No object of the API comes near it, and what walks over values afterwards (the platform's
 * own JSON.stringify included) recurses, so that a bomb would exhaust the stack.
 */
export const MAX_JSON_DEPTH = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
/** Like the control characters after ASCII, it cannot be printed. */
const SOFT_HYPHEN = 0xad;

/** Whether valid JSON nests deeper than the limit. A text too short for that is not looked at. */
function isTooDeep(text: string): boolean {
  if (text.length < 2 * MAX_JSON_DEPTH) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return false;
}

/** Parses JSON. Throws {@link JsonSyntaxError}. `bytes`: the text as it was sent, should it not be UTF-8. */
export function parseJson(text: string, bytes?: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonSyntaxError(explain(bytes ?? Buffer.from(text)));
  }
  if (isTooDeep(text)) throw new JsonSyntaxError('exceeded max depth');
  if (hasLongInteger(text)) value = readExactly(text);
  return wholeCharacters(text, value);
}

const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

/** A text's value. Half a character is none: U+FFFD stands for it, as for bytes that are no UTF-8. */
export function wholeCharacters(text: string, value: unknown): unknown {
  return ESCAPED_SURROGATE.test(text) ? wellFormed(value) : value;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return Buffer.from(value).toString();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [Buffer.from(name).toString(), wellFormed(one)]),
  );
}

/** What the scanner expects next. */
type Expectation = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'objectComma' | 'arrayComma' | 'end';

const COMPLAINTS: Readonly<Record<Expectation, string>> = {
  value: 'looking for beginning of value',
  valueOrEnd: 'looking for beginning of value',
  key: 'looking for beginning of object key string',
  keyOrEnd: 'looking for beginning of object key string',
  colon: 'after object key',
  objectComma: 'after object key:value pair',
  arrayComma: 'after array element',
  end: 'after top-level value',
};
const UNEXPECTED_END = 'unexpected end of JSON input';

function printCharacter(code: number): string {
  if (code === 0x27) return "'\\''";
  if (code === QUOTE) return `'"'`;
  if (code < 0x20 || code === 0x7f) {
    const named = { 7: '\\a', 8: '\\b', 9: '\\t', 10: '\\n', 11: '\\v', 12: '\\f', 13: '\\r' }[code];
    return `'${named ?? `\\x${code.toString(16).padStart(2, '0')}`}'`;
  }
  if ((code >= 0x80 && code <= 0xa0) || code === SOFT_HYPHEN) return `'\\u${code.toString(16).padStart(4, '0')}'`;
  return `'${code === BACKSLASH ? '\\\\' : String.fromCharCode(code)}'`;
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39;
}

/** A token that ended well, at the index after it, or what is wrong with it. */
type Scanned = { readonly end: number } | { readonly problem: string };

function unexpected(code: number | undefined, context: string): Scanned {
  return { problem: code === undefined ? UNEXPECTED_END : `invalid character ${printCharacter(code)} ${context}` };
}

function scanString(bytes: Uint8Array, start: number): Scanned {
  for (let index = start + 1; ; index += 1) {
    const code = bytes[index];
    if (code === QUOTE) return { end: index + 1 };
    if (code === undefined || code < 0x20) return unexpected(code, 'in string literal');
    if (code !== BACKSLASH) continue;
    index += 1;
    const escape = bytes[index];
    if (escape === undefined || !'"\\/bfnrtu'.includes(String.fromCharCode(escape))) {
      return unexpected(escape, 'in string escape code');
    }
    if (escape !== 0x75) continue;
    for (let digit = 0; digit < 4; digit += 1) {
      index += 1;
      const hex = bytes[index];
      if (hex === undefined || !/[0-9a-fA-F]/.test(String.fromCharCode(hex))) {
        return unexpected(hex, 'in \\u hexadecimal character escape');
      }
    }
  }
}

function scanDigits(bytes: Uint8Array, start: number, context: string): Scanned {
  if (!isDigit(bytes[start])) return unexpected(bytes[start], context);
  let end = start + 1;
  while (isDigit(bytes[end])) end += 1;
  return { end };
}

function scanNumber(bytes: Uint8Array, start: number): Scanned {
  const first = bytes[start] === 0x2d ? start + 1 : start;
  let whole = scanDigits(bytes, first, 'in numeric literal');
  if ('problem' in whole) return whole;
  if (bytes[first] === 0x30) whole = { end: first + 1 };
  let { end } = whole;
  if (bytes[end] === 0x2e) {
    const fraction = scanDigits(bytes, end + 1, 'after decimal point in numeric literal');
    if ('problem' in fraction) return fraction;
    ({ end } = fraction);
  }
  if (bytes[end] !== 0x65 && bytes[end] !== 0x45) return { end };
  const signed = bytes[end + 1] === 0x2b || bytes[end + 1] === 0x2d;
  return scanDigits(bytes, end + (signed ? 2 : 1), 'in exponent of numeric literal');
}

function scanLiteral(bytes: Uint8Array, start: number, literal: string): Scanned {
  for (let index = 1; index < literal.length; index += 1) {
    const code = bytes[start + index];
    const expected = literal.charCodeAt(index);
    if (code !== expected) return unexpected(code, `in literal ${literal} (expecting ${printCharacter(expected)})`);
  }
  return { end: start + literal.length };
}

function scanScalar(bytes: Uint8Array, start: number): Scanned {
  const code = bytes[start];
  if (code === QUOTE) return scanString(bytes, start);
  if (code === 0x2d || isDigit(code)) return scanNumber(bytes, start);
  if (code === 0x74) return scanLiteral(bytes, start, 'true');
  if (code === 0x66) return scanLiteral(bytes, start, 'false');
  if (code === 0x6e) return scanLiteral(bytes, start, 'null');
  return unexpected(code, COMPLAINTS.value);
}

/** Why a text is no JSON: the first thing that is wrong with it. */
function explain(bytes: Uint8Array): string {
  const open: ('object' | 'array')[] = [];
  let expects: Expectation = 'value';
  const afterValue = (): Expectation => {
    const container = open.at(-1);
    return container === undefined ? 'end' : container === 'object' ? 'objectComma' : 'arrayComma';
  };
  for (let index = 0; ;) {
    const code = bytes[index];
    if (code === undefined) return UNEXPECTED_END;
    if (code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b && code !== 0x0c)) {
      index += 1;
      continue;
    }
    const closes =
      (code === CLOSE_BRACE && (expects === 'keyOrEnd' || expects === 'objectComma')) ||
      (code === CLOSE_BRACKET && (expects === 'valueOrEnd' || expects === 'arrayComma'));
    if (closes) {
      open.pop();
      expects = afterValue();
      index += 1;
    } else if ((expects === 'value' || expects === 'valueOrEnd') && (code === OPEN_BRACE || code === OPEN_BRACKET)) {
      open.push(code === OPEN_BRACE ? 'object' : 'array');
      expects = code === OPEN_BRACE ? 'keyOrEnd' : 'valueOrEnd';
      index += 1;
    } else if (expects === 'value' || expects === 'valueOrEnd') {
      const scanned = scanScalar(bytes, index);
      if ('problem' in scanned) return scanned.problem;
      index = scanned.end;
      expects = afterValue();
    } else if ((expects === 'key' || expects === 'keyOrEnd') && code === QUOTE) {
      const scanned = scanString(bytes, index);
      if ('problem' in scanned) return scanned.problem;
      index = scanned.end;
      expects = 'colon';
    } else if (expects === 'colon' && code === COLON) {
      expects = 'value';
      index += 1;
    } else if (code === COMMA && (expects === 'objectComma' || expects === 'arrayComma')) {
      expects = expects === 'objectComma' ? 'key' : 'value';
      index += 1;
    } else {
      return `invalid character ${printCharacter(code)} ${COMPLAINTS[expects]}`;
    }
  }
}

interface Level {
  /** The keys met so far in an object; undefined for a list. */
  readonly keys: Set<string> | undefined;
  /** Where in the level the scanner is: the path's part for it. */
  part: string;
  index: number;
}

const MAX_REPORTED = 100;
/** Of the paths together, in characters. */
const MAX_REPORTED_LENGTH = 256 * 1024;

/**
 * The paths of fields that an object names more than once (`metadata.name`, `spec.containers[0].image`), in document
 * order, a hundred at most. The text must be valid JSON.
 */
export function duplicateFields(text: string): readonly string[] {
  const levels: Level[] = [];
  const found: string[] = [];
  let reported = 0;
  let expectsKey = false;
  for (let index = 0; index < text.length && found.length < MAX_REPORTED; index += 1) {
    const code = text.charCodeAt(index);
    const level = levels.at(-1);
    if (code === QUOTE) {
      const end = endOfString(text, index);
      if (expectsKey && level?.keys !== undefined) {
        const raw = text.slice(index + 1, end);
        const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
        level.part = levels.length === 1 ? key : `.${key}`;
        if (level.keys.has(key)) {
          reported += levels.reduce((sum, { part }) => sum + part.length, 0);
          if (reported > MAX_REPORTED_LENGTH && found.length > 0) break;
          found.push(levels.map(({ part }) => part).join(''));
        }
        level.keys.add(key);
        expectsKey = false;
      }
      index = end;
    } else if (code === OPEN_BRACE) {
      levels.push({ keys: new Set(), part: '', index: 0 });
      expectsKey = true;
    } else if (code === OPEN_BRACKET) {
      levels.push({ keys: undefined, part: '[0]', index: 0 });
      expectsKey = false;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      levels.pop();
      expectsKey = false;
    } else if (code === COMMA && level !== undefined) {
      if (level.keys === undefined) {
        level.index += 1;
        level.part = `[${level.index}]`;
      } else expectsKey = true;
    }
  }
  return [...new Set(found)];
}
