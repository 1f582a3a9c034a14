/**
 * What a plain YAML scalar means: the rules of YAML 1.1 as kube-apiserver's library applies them, where `y`, `off` and
 * `0777` are no texts, but times and `1:30` are.
 */
import { exactInteger } from './exact-json';

/** With so many digits an integer may be beyond 2^53. */
const LONG = 16;

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
]);
const NON_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const INTEGER = /^[-+]?(?:0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO]?[0-7]*|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

function parseInteger(text: string): number | bigint {
  const negative = text.startsWith('-');
  const digits = /^[-+]/.test(text) ? text.slice(1) : text;
  // A leading zero alone means octal, which Number would take for decimal.
  const isOctal = /^0[0-7]+$/.test(digits);
  if (digits.length >= LONG) {
    const long = BigInt(isOctal ? `0o${digits.slice(1)}` : digits);
    return exactInteger(negative ? -long : long);
  }
  const size = isOctal ? Number.parseInt(digits, 8) : Number(digits);
  return negative && size !== 0 ? -size : size;
}

/** The value of a plain scalar: a text unless it reads as something else. NaN and infinities are numbers here. */
export function resolvePlain(text: string): string | number | bigint | boolean | null {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  if (NON_FINITE.test(text))
    return text.endsWith('n') || text.endsWith('N') ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity;
  const plain = text.replaceAll('_', '');
  if (INTEGER.test(plain)) return parseInteger(plain);
  return FLOAT.test(plain) ? wholeOrFraction(Number(plain)) : text;
}

/** A whole number is an integer, however it is written, as far as an int64 reaches. */
function wholeOrFraction(number: number): number | bigint {
  const isLong = Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < 2 ** 63;
  return isLong ? BigInt(String(number)) : number;
}

const TIMESTAMP =
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[Tt\s]+[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?\s*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?)?$)/;

/** Whether a text must be quoted so that no reader, of this or of older rules, takes it for something else. */
export function needsQuotes(text: string): boolean {
  return typeof resolvePlain(text) !== 'string' || text === '<<' || BASE_60.test(text) || TIMESTAMP.test(text);
}
