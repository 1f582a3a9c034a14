import type { Steps } from '../../parts';

/**
 * Texts as their UTF-16 units: what takes a string's own methods tens of nanoseconds for each character, and a search of theirs the
 * product of both lengths, takes one or two for each here.
 */

function unitsOf(text: string): Uint16Array {
  const bytes = Buffer.from(text, 'utf16le');
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
}

function textOf(units: Uint16Array): string {
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le');
}

const CASE_BIT = 0x20;

export function lowerAscii(text: string): string {
  return /[A-Z]/.test(text) ? inOtherCase(text, 0x41) : text;
}

export function upperAscii(text: string): string {
  return /[a-z]/.test(text) ? inOtherCase(text, 0x61) : text;
}

/** `first`: the letter A of the case that is changed. */
function inOtherCase(text: string, first: number): string {
  const units = unitsOf(text);
  for (let index = 0; index < units.length; index += 1) {
    const unit = units[index]!;
    if (unit >= first && unit < first + 26) units[index] = unit ^ CASE_BIT;
  }
  return textOf(units);
}

/** By characters: pairs stay in their order. */
export function reversed(text: string): string {
  const units = unitsOf(text).reverse();
  for (let index = 0; index < units.length - 1; index += 1) {
    const [low, high] = [units[index]!, units[index + 1]!];
    if (!isLow(low) || !isHigh(high)) continue;
    units[index] = high;
    units[index + 1] = low;
    index += 1;
  }
  return textOf(units);
}

function isHigh(unit: number | undefined): boolean {
  return unit !== undefined && (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number | undefined): boolean {
  return unit !== undefined && (unit & 0xfc00) === 0xdc00;
}

/** What the platform's search does in some milliseconds, even where it tries the whole part at each place of the text. */
const QUICK_PRODUCT = 16_000_000;

function isQuick(text: string, part: string): boolean {
  return text.length * part.length <= QUICK_PRODUCT;
}

/** Where the part first begins, at `from` or after it; -1: nowhere. */
export function indexIn(text: string, part: string, from = 0): number {
  if (isQuick(text, part)) return text.indexOf(part, from);
  for (const start of occurrences(unitsOf(text), unitsOf(part), from)) return start;
  return -1;
}

/** Where the part last begins, at `to` or before it; -1: nowhere. */
export function lastIndexIn(text: string, part: string, to = text.length): number {
  if (isQuick(text, part)) return text.lastIndexOf(part, to);
  const begin = text.length - part.length;
  // From the end, as it is the first of what is read backwards.
  const from = Math.max(0, begin - to);
  for (const start of occurrences(unitsOf(text).reverse(), unitsOf(part).reverse(), from)) return begin - start;
  return -1;
}

/** Where the part begins, each after the end of the one before (Knuth, Morris and Pratt's way). */
function* occurrences(text: Uint16Array, part: Uint16Array, from = 0): Generator<number> {
  if (part.length > text.length) return;
  const borders = bordersOf(part);
  let matched = 0;
  for (let index = from; index < text.length; index += 1) {
    const unit = text[index];
    while (matched > 0 && part[matched] !== unit) matched = borders[matched - 1]!;
    if (part[matched] === unit) matched += 1;
    if (matched < part.length) continue;
    matched = 0;
    yield index + 1 - part.length;
  }
}

/** For each beginning of the part, the length of the longest shorter one that it ends with. */
function bordersOf(part: Uint16Array): Int32Array {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let index = 1; index < part.length; index += 1) {
    while (length > 0 && part[length] !== part[index]) length = borders[length - 1]!;
    if (part[length] === part[index]) length += 1;
    borders[index] = length;
  }
  return borders;
}

/** Before each character and after the last. */
function* boundaries(text: Uint16Array): Generator<number> {
  for (let index = 0; index <= text.length; index += 1) {
    if (!isLow(text[index]) || !isHigh(text[index - 1])) yield index;
  }
}

/** The pieces between the parts, not more than `most`, of which the last is all that is left. An empty part parts characters. */
export function* piecesOf(text: string, part: string, most: number): Generator<string> {
  let start = 0;
  let left = most - 1;
  const units = unitsOf(text);
  for (const end of part === '' ? boundaries(units) : occurrences(units, unitsOf(part))) {
    if (left === 0) break;
    // Nothing stands before the first character, and no piece after the last.
    if (part === '' && (end === 0 || end === text.length)) continue;
    yield text.slice(start, end);
    start = end + part.length;
    left -= 1;
  }
  if (part !== '' || start < text.length) yield text.slice(start);
}

/** Occurrences that are passed between two pauses: less than a millisecond. */
const PLACES_AT_ONCE = 16_384;

/**
 * The text with `by` in place of the part, not more than `most` times; an empty part stands before each character and after the last.
 * Undefined: it would be longer than `longest`.
 */
export function* replaceSteps(
  text: string,
  part: string,
  by: string,
  most: number,
  longest: number,
): Steps<string | undefined> {
  const units = unitsOf(text);
  const places = part === '' ? () => boundaries(units) : () => occurrences(units, unitsOf(part));
  const growth = by.length - part.length;
  let count = 0;
  for (const _ of places()) {
    if (count === most) break;
    count += 1;
    if (growth > 0 && text.length + count * growth > longest) return undefined;
    if (count % PLACES_AT_ONCE === 0) yield;
  }
  if (count === 0) return text;
  const length = text.length + count * growth;
  if (length > longest) return undefined;
  const result = new Uint16Array(length);
  const put = unitsOf(by);
  let [from, to] = [0, 0];
  const copy = (end: number): void => {
    for (; from < end; from += 1, to += 1) result[to] = units[from]!;
  };
  for (const place of places()) {
    if (count === 0) break;
    count -= 1;
    if (count % PLACES_AT_ONCE === 0) yield;
    copy(place);
    for (let index = 0; index < put.length; index += 1, to += 1) result[to] = put[index]!;
    from += part.length;
  }
  copy(units.length);
  return textOf(result);
}
