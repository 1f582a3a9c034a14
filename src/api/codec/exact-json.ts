import { BACKSLASH } from './json-bytes';
import { setOwn, type MutableObject } from './set-own';

/**
 * JSON whose integers are all kept. JavaScript's numbers are exact up to 2^53; an integer beyond, as far as an int64
 * reaches, is a bigint here, as it is an int64 and no float64 in kube-apiserver. Texts without such numbers, which is nearly all,
 * cost a search for a long run of digits; values without a bigint cost nothing.
 */

/** A number with so many digits may be beyond 2^53. */
const LONG = 16;
/**
 * In a text of quotes it may be found, too, which only costs the slower way. None of many more digits is an int64, and to make a bigint of
 * megabytes of them takes a second.
 */
const LONG_INTEGER = /(?:^|[:,[\s])-?\d{16,20}(?!\d)/;
const INTEGER = /^-?\d{1,19}$/;
const TOKEN = /[^\s,\]}]+/y;
const BLANKS = /\s*/y;

export const MIN_INT64 = -(2n ** 63n);
export const MAX_INT64 = 2n ** 63n - 1n;

/** A number where it holds the integer exactly, a bigint beyond, a (rounded) number again beyond what an int64 holds. */
export function exactInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) || value < MIN_INT64 || value > MAX_INT64 ? number : value;
}

/** As JSON.parse, with integers that are exact. Throws a SyntaxError. The text must not nest deeper than the stack bears. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasLongInteger(text) ? readExactly(text) : value;
}

/** Whether {@link readExactly} may give anything else than JSON.parse does. */
export function hasLongInteger(text: string): boolean {
  // A long run of digits has one at each multiple of its length: looking there is four times as fast as a RegExp.
  for (let index = LONG - 1; index < text.length; index += LONG) {
    if (isDigit(text.charCodeAt(index)) && isInLongRun(text, index)) return LONG_INTEGER.test(text);
  }
  return false;
}

function isInLongRun(text: string, index: number): boolean {
  // A run may have megabytes: no more of it is looked at than makes it a long one.
  let start = index;
  while (index - start < LONG && isDigit(text.charCodeAt(start - 1))) start -= 1;
  let end = index + 1;
  while (end - start < LONG && isDigit(text.charCodeAt(end))) end += 1;
  return end - start >= LONG;
}

function isDigit(code: number): boolean {
  return code <= 0x39 && code >= 0x30;
}

/** The value of a text that JSON.parse takes. */
export function readExactly(text: string): unknown {
  return new ExactReader(text).value();
}

/** Reads a text that is known to be JSON. */
class ExactReader {
  private position = 0;

  constructor(private readonly text: string) {}

  value(): unknown {
    this.skipBlanks();
    const first = this.text[this.position];
    if (first === '{') return this.object();
    if (first === '[') return this.list();
    return first === '"' ? this.string() : this.scalar();
  }

  private skipBlanks(): void {
    BLANKS.lastIndex = this.position;
    BLANKS.test(this.text);
    this.position = BLANKS.lastIndex;
  }

  private object(): MutableObject {
    const object: MutableObject = {};
    this.members('}', () => {
      this.skipBlanks();
      const name = this.string();
      this.skipBlanks();
      this.position += 1; // the colon
      setOwn(object, name, this.value());
    });
    return object;
  }

  private list(): unknown[] {
    const list: unknown[] = [];
    this.members(']', () => list.push(this.value()));
    return list;
  }

  /** From the opening bracket to after the closing one. */
  private members(closing: string, read: () => void): void {
    do {
      this.position += 1; // the bracket, or a comma
      this.skipBlanks();
      if (this.text[this.position] === closing) break;
      read();
      this.skipBlanks();
    } while (this.text[this.position] !== closing);
    this.position += 1;
  }

  private string(): string {
    const start = this.position;
    this.position = endOfString(this.text, start) + 1;
    return JSON.parse(this.text.slice(start, this.position)) as string;
  }

  private scalar(): unknown {
    TOKEN.lastIndex = this.position;
    const token = TOKEN.exec(this.text)?.[0] ?? '';
    this.position += token.length;
    return token.length >= LONG && INTEGER.test(token) ? exactInteger(BigInt(token)) : JSON.parse(token);
  }
}

/** The index of the quote that ends the string whose opening quote stands at `start`. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** As JSON.stringify of plain data, bigints being numbers. */
export function stringifyExact(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch (error) {
    // All that plain data can be refused for is a bigint.
    if (error instanceof TypeError) return print(value, ' '.repeat(indent), '\n') ?? 'null';
    throw error;
  }
}

/** Undefined for what JSON has no place for. `lineBreak`: with the indentation of the line that the value begins in. */
function print(value: unknown, indent: string, lineBreak: string): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = lineBreak + indent;
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((item) => print(item, indent, inner) ?? 'null')
    : Object.entries(value).flatMap(([name, member]) => {
        const printed = print(member, indent, inner);
        return printed === undefined ? [] : [`${JSON.stringify(name)}:${indent === '' ? '' : ' '}${printed}`];
      });
  const [open, close] = isList ? '[]' : '{}';
  if (members.length === 0) return `${open}${close}`;
  return indent === ''
    ? `${open}${members.join(',')}${close}`
    : `${open}${inner}${members.join(`,${inner}`)}${lineBreak}${close}`;
}
