import { Uint, type Literal } from './ast';
import type { Token } from './lexer';
import { MAX_INT64, MIN_INT64 } from '../codec/exact-json';

export const MAX_UINT64 = 2n ** 64n - 1n;

/** The value of a token that stands for one. A string says what is wrong with it. */
export function literalOf({ kind, text }: Token, negative: boolean): { readonly value: Literal } | string {
  switch (kind) {
    case 'int': {
      const value = negative ? -BigInt(text) : BigInt(text);
      return value < MIN_INT64 || value > MAX_INT64 ? 'invalid int literal' : { value };
    }
    case 'uint': {
      const value = BigInt(text.slice(0, -1));
      return value > MAX_UINT64 ? 'invalid uint literal' : { value: new Uint(value) };
    }
    case 'double': {
      const value = Number(negative ? `-${text}` : text);
      return Number.isFinite(value) ? { value } : 'invalid double literal';
    }
    case 'string':
      return unescapeString(text);
    case 'bytes':
      return unescapeBytes(text);
    default:
      return `'${text}' is not a literal`;
  }
}

const SIMPLE: Readonly<Record<string, number>> = {
  a: 0x07,
  b: 0x08,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
  v: 0x0b,
  '\\': 0x5c,
  '?': 0x3f,
  '"': 0x22,
  "'": 0x27,
  '`': 0x60,
};

const ESCAPE =
  /\\(?:([abfnrtv\\?"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([^]?))/g;

interface Escape {
  readonly code: number;
  /** Written as a byte: in bytes it is one, in strings a code point. */
  readonly isByte: boolean;
}

function contents(text: string): { readonly body: string; readonly raw: boolean } {
  const prefix = /^[a-zA-Z]*/.exec(text)?.[0] ?? '';
  const quoted = text.slice(prefix.length);
  const width = quoted.startsWith('"""') || quoted.startsWith("'''") ? 3 : 1;
  return { body: quoted.slice(width, -width), raw: /[rR]/.test(prefix) };
}

/** Undefined: no such escape, or not a character. */
function escapeOf(match: RegExpMatchArray): Escape | undefined {
  const [, simple, hex, short, long, octal] = match;
  if (simple !== undefined) return { code: SIMPLE[simple] ?? 0, isByte: true };
  if (hex !== undefined) return { code: parseInt(hex, 16), isByte: true };
  if (octal !== undefined) return { code: parseInt(octal, 8), isByte: true };
  const digits = short ?? long;
  const code = digits === undefined ? -1 : parseInt(digits, 16);
  const isCharacter = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? { code, isByte: false } : undefined;
}

function unescapeString(text: string): { readonly value: string } | string {
  const { body, raw } = contents(text);
  if (raw || !body.includes('\\')) return { value: body };
  let problem: string | undefined;
  const value = body.replace(ESCAPE, (...match) => {
    const escape = escapeOf(match as RegExpMatchArray);
    if (escape === undefined) problem = 'invalid string literal: unable to unescape string';
    return escape === undefined ? '' : String.fromCodePoint(escape.code);
  });
  return problem ?? { value };
}

function unescapeBytes(text: string): { readonly value: Uint8Array } | string {
  const { body, raw } = contents(text);
  if (raw || !body.includes('\\')) return { value: Buffer.from(body, 'utf8') };
  const parts: Uint8Array[] = [];
  let end = 0;
  for (const match of body.matchAll(ESCAPE)) {
    parts.push(Buffer.from(body.slice(end, match.index), 'utf8'));
    const escape = escapeOf(match);
    if (escape === undefined || !escape.isByte) return 'invalid bytes literal: unable to unescape string';
    parts.push(Buffer.from([escape.code]));
    end = match.index + match[0].length;
  }
  parts.push(Buffer.from(body.slice(end), 'utf8'));
  return { value: Buffer.concat(parts) };
}
