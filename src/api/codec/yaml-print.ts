import { needsQuotes } from './yaml-scalar';

/**
 * YAML answers, laid out as kube-apiserver lays them out: keys sorted, lists as deep as their key, long texts folded
 * after the 80th column, texts with line breaks as literal blocks.
 */

const BEST_WIDTH = 80;
const MAX_SIMPLE_KEY = 128;

/** A character's share in the order of keys: letters after all else, runs of digits by their value. */
function compareKeys(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  let afterDigit = false;
  for (let index = 0; index < left.length && index < right.length; index += 1) {
    const x = left[index] ?? '';
    const y = right[index] ?? '';
    if (x === y) {
      afterDigit = isDigit(x);
      continue;
    }
    const xLetter = /\p{L}/u.test(x);
    const yLetter = /\p{L}/u.test(y);
    if (xLetter && yLetter) return x < y ? -1 : 1;
    // "a1b" before "a12" before "ab": after a digit a letter ends the number, elsewhere it comes last.
    if (xLetter || yLetter) return xLetter === afterDigit ? -1 : 1;
    return compareNumbers(left, right, index) || (x < y ? -1 : 1);
  }
  return left.length - right.length;
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && /\p{Nd}/u.test(character);
}

function compareNumbers(left: readonly string[], right: readonly string[], start: number): number {
  const run = (characters: readonly string[]): string => {
    let end = start;
    while (isDigit(characters[end])) end += 1;
    return characters.slice(start, end).join('');
  };
  const x = run(left);
  const y = run(right);
  // Digits before this place make zeros count: 100 and 11 differ in length, 1.01 and 1.1 in value.
  let leads = '';
  for (let before = start - 1; before >= 0 && isDigit(left[before]); before -= 1) if (left[before] !== '0') leads = '1';
  const difference = Number(`${leads}${x}` || 0) - Number(`${leads}${y}` || 0);
  return difference === 0 ? x.length - y.length : difference;
}

interface Analysis {
  readonly plain: boolean;
  readonly singleQuoted: boolean;
  readonly literal: boolean;
}

const PRINTABLE = /^[\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;

// Which begins like a comment, a flow collection, an anchor, an alias, a tag, a block or a quoted text.
const INDICATOR_FIRST = /^(?:[#,[\]{}&*!|>'"%@`]|[-?:](?:\s|$)|---|\.\.\.)/;
const INDICATOR_INSIDE = /:(?:\s|$)|\s#/;

function analyze(text: string): Analysis {
  const special = !PRINTABLE.test(text) || / \n/.test(text);
  const breaks = text.includes('\n');
  return {
    plain: !special && !breaks && !/^ | $/.test(text) && !INDICATOR_FIRST.test(text) && !INDICATOR_INSIDE.test(text),
    singleQuoted: !special && !/\n /.test(text),
    literal: !special && !text.endsWith(' '),
  };
}

const NAMED_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\x1b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x85', '\\N'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
]);

function escapeCharacter(character: string): string {
  const named = NAMED_ESCAPES.get(character);
  if (named !== undefined) return named;
  if (PRINTABLE.test(character)) return character;
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

class Printer {
  private readonly parts: string[] = [];
  private column = 0;

  text(): string {
    return this.parts.join('');
  }

  private write(text: string): void {
    this.parts.push(text);
    this.column += text.length;
    // A character beyond the basic plane is one column and two units.
    for (const pair of text.match(/[\ud800-\udbff][\udc00-\udfff]/g) ?? []) this.column -= pair.length - 1;
  }

  private newLine(indent: number): void {
    this.parts.push('\n', ' '.repeat(indent));
    this.column = indent;
  }

  /** A value at the place where the pen is; what needs lines of its own gets them at `indent`. */
  value(value: unknown, indent: number): void {
    if (Array.isArray(value)) this.list(value as readonly unknown[], indent);
    else if (typeof value === 'object' && value !== null) this.map(value as Readonly<Record<string, unknown>>, indent);
    else this.scalar(value, indent);
  }

  private map(map: Readonly<Record<string, unknown>>, indent: number): void {
    const keys = Object.keys(map)
      .filter((key) => map[key] !== undefined)
      .sort(compareKeys);
    if (keys.length === 0) this.write('{}');
    keys.forEach((key, index) => {
      if (index > 0) this.newLine(indent);
      const simple = key.length <= MAX_SIMPLE_KEY && !key.includes('\n');
      if (!simple) this.write('? ');
      this.string(key, indent + 2, simple);
      if (!simple) this.newLine(indent);
      this.write(':');
      this.mapValue(map[key], indent);
    });
  }

  private mapValue(value: unknown, indent: number): void {
    const nested = typeof value === 'object' && value !== null;
    const empty = nested && Object.keys(value).length === 0;
    if (nested && !empty) {
      // A list stands as deep as its key.
      const inner = Array.isArray(value) ? indent : indent + 2;
      this.newLine(inner);
      this.value(value, inner);
    } else {
      this.write(' ');
      this.value(value, indent + 2);
    }
  }

  private list(list: readonly unknown[], indent: number): void {
    if (list.length === 0) this.write('[]');
    list.forEach((item, index) => {
      if (index > 0) this.newLine(indent);
      this.write('- ');
      this.value(item, indent + 2);
    });
  }

  private scalar(value: unknown, indent: number): void {
    if (typeof value === 'string') this.string(value, indent, false);
    else if (typeof value === 'number') this.write(printNumber(value));
    else this.write(String(value));
  }

  private string(text: string, indent: number, isKey: boolean): void {
    const allowed = analyze(text);
    if (text.includes('\n') && allowed.literal && !isKey) this.literal(text, indent);
    else if (text.includes('\n') || needsQuotes(text)) this.doubleQuoted(text, indent, isKey);
    else if (allowed.plain && this.column + text.length <= BEST_WIDTH) this.write(text);
    else if (allowed.plain) this.folded([...text], indent, isKey, 0);
    else if (allowed.singleQuoted) {
      this.write("'");
      this.folded([...text], indent, isKey, 1);
      this.write("'");
    } else this.doubleQuoted(text, indent, isKey);
  }

  /** Plain and single-quoted texts: a single space beyond the width becomes a line break, not at the very ends. */
  private folded(characters: readonly string[], indent: number, isKey: boolean, margin: 0 | 1): void {
    characters.forEach((character, index) => {
      const single = character === ' ' && characters[index - 1] !== ' ' && characters[index + 1] !== ' ';
      const inside = index >= margin && index < characters.length - margin;
      if (single && inside && !isKey && this.column > BEST_WIDTH) this.newLine(indent);
      else this.write(margin === 1 && character === "'" ? "''" : character);
    });
  }

  private doubleQuoted(text: string, indent: number, isKey: boolean): void {
    const characters = [...text];
    this.write('"');
    characters.forEach((character, index) => {
      const first = character === ' ' && characters[index - 1] !== ' ';
      if (first && !isKey && this.column > BEST_WIDTH && index > 0 && index < characters.length - 1) {
        this.newLine(indent);
        if (characters[index + 1] === ' ') this.write('\\');
      } else this.write(escapeCharacter(character));
    });
    this.write('"');
  }

  private literal(text: string, indent: number): void {
    const hint = /^[ \n]/.test(text) ? '2' : '';
    const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
    this.write(`|${hint}${chomp}`);
    const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
    for (const line of lines) {
      this.newLine(line === '' ? 0 : indent);
      this.write(line);
    }
  }
}

/** Fractions and numbers too large for 64 bits as Go prints floats: with an exponent from a million on. */
function printNumber(value: number): string {
  const isInteger = Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64;
  const size = Math.abs(value);
  if (isInteger) return String(value === 0 ? 0 : value);
  if (size >= 1e-4 && size < 1e6) return String(value);
  return value.toExponential().replace(/e([-+])(\d)$/, 'e$10$2');
}

/** The YAML text of plain JSON data, with a line break at its end. */
export function printYaml(value: unknown): string {
  const printer = new Printer();
  printer.value(value, 0);
  return `${printer.text()}\n`;
}
