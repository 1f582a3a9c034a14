import type { RE2JS } from 're2js';
import { LRUCache } from 'lru-cache';
import { declare, OF_REGEX, OF_SEARCH, OF_TEXT, traversal, type Cost, type Overload } from '../declarations';
import { CostExceeded, inSteps } from '../run';
import { atOnce, type Steps } from '../../parts';
import type { ListValue } from '../values';
import { EvalError, Items, type Value } from '../values';
import { PatternError, readPattern } from '../../patterns/read-pattern';
import { isLongSearch, searchInSteps, searchSize } from '../../patterns/search';
import { quoteWhole } from '../../errors/go-quote';
import { formatString } from './format-string';

/** No function makes a longer text: it would not fit into an object. */
const MAX_TEXT = 10 * 1024 * 1024;

const OF_SECOND: Cost = { of: ([, part = 0]) => traversal(part) };
const OF_TWICE: Cost = { of: ([size = 0]) => 2 * traversal(size), result: ([size = 0]) => size };

const text = (value: Value | undefined): string => value as string;

/** Of the language, of cel-go's extended strings (version 2), and of Kubernetes. Positions count characters. */
export function stringFunctions(): readonly Overload[] {
  return [
    declare('string.contains(string): bool', (a, b) => text(a).includes(text(b)), OF_SEARCH),
    declare('string.startsWith(string): bool', (a, b) => text(a).startsWith(text(b)), OF_SECOND),
    declare('string.endsWith(string): bool', (a, b) => text(a).endsWith(text(b)), OF_SECOND),
    declare('string.matches(string): bool', (a, b) => matches(text(a), text(b)), OF_REGEX),
    declare('matches(string, string): bool', (a, b) => matches(text(a), text(b)), OF_REGEX),
    declare('string.find(string): string', (a, b) => find(text(a), text(b)), OF_REGEX),
    declare('string.findAll(string): list<string>', (a, b) => findAll(text(a), text(b), -1n), OF_REGEX),
    declare('string.findAll(string, int): list<string>', (a, b, n) => findAll(text(a), text(b), n as bigint), OF_REGEX),
    ...positions(),
    declare('string.lowerAscii(): string', (a) => text(a).replace(/[A-Z]+/g, (part) => part.toLowerCase()), OF_TEXT),
    declare('string.upperAscii(): string', (a) => text(a).replace(/[a-z]+/g, (part) => part.toUpperCase()), OF_TEXT),
    declare('string.trim(): string', (a) => trimmed(text(a)), OF_TEXT),
    declare('string.reverse(): string', (a) => [...text(a)].reverse().join(''), OF_TEXT),
    declare('string.replace(string, string): string', (a, b, c) => replace(text(a), text(b), text(c), -1n), OF_TWICE),
    declare(
      'string.replace(string, string, int): string',
      (a, b, c, n) => replace(text(a), text(b), text(c), n as bigint),
      OF_TWICE,
    ),
    declare('string.split(string): list<string>', (a, b) => split(text(a), text(b), -1n), OF_TWICE),
    declare('string.split(string, int): list<string>', (a, b, n) => split(text(a), text(b), n as bigint), OF_TWICE),
    declare('list<string>.join(): string', (list) => join(list as ListValue, ''), OF_JOIN),
    declare('list<string>.join(string): string', (list, by) => join(list as ListValue, text(by)), OF_JOIN),
    declare('strings.quote(string): string', (a) => quoteWhole(text(a)), OF_TEXT),
    declare(
      'string.format(list<dyn>): string',
      (a, list) => limited(formatString(text(a), list as ListValue)),
      OF_TEXT,
    ),
  ];
}

const OF_JOIN: Cost = { of: ([size = 0]) => size + 1 };

/** Those of literals are asked for again and again. */
const patterns = new LRUCache<string, RE2JS>({ max: 500 });
/** What a long pattern compiles to is large. */
const MAX_PATTERN = 5_000;

/** In linear time, whatever the pattern. */
function patternOf(pattern: string): RE2JS {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > MAX_PATTERN) throw new EvalError(`pattern is longer than ${MAX_PATTERN} characters`);
  try {
    const compiled = readPattern(pattern);
    patterns.set(pattern, compiled);
    return compiled;
  } catch (error) {
    throw error instanceof PatternError ? new EvalError(error.message) : error;
  }
}

/** Whether a pattern that is known before the evaluation can be read; the problem where it cannot. */
export function patternProblem(pattern: string): string | undefined {
  try {
    patternOf(pattern);
    return undefined;
  } catch (error) {
    return error instanceof EvalError ? error.message : String(error);
  }
}

function matches(of: string, pattern: string): boolean {
  const compiled = patternOf(pattern);
  if (!isLongSearch(compiled, of)) return compiled.test(of);
  return inSteps(`matches ${pattern}`, of, () => searchInSteps(compiled, of));
}

/** Which part is found cannot be looked for in steps: characters times instructions of one search, some 20 ms. */
const MAX_FIND = 2_000_000;
/** Of all searches of one call, each of which may look through all that is left before it finds a part of it. */
const MAX_FIND_ALL = 1_000_000_000;
/** Searches that may take less are not interrupted. */
const FIND_PER_STEP = 20_000;

function find(of: string, pattern: string): string {
  const compiled = patternOf(pattern);
  if (searchSize(compiled, of) > MAX_FIND) throw new CostExceeded();
  const matcher = compiled.matcher(of);
  return matcher.find() ? (matcher.group() ?? '') : '';
}

function findAll(of: string, pattern: string, limit: bigint): Items {
  const compiled = patternOf(pattern);
  const size = searchSize(compiled, of);
  if (size > MAX_FIND) throw new CostExceeded();
  // One that is not interrupted need not be remembered: a list may have a hundred thousand of them.
  if (size * (of.length + 1) <= FIND_PER_STEP) return atOnce(findInSteps(compiled, of, limit));
  return inSteps(`findAll ${limit} ${pattern}`, of, () => findInSteps(compiled, of, limit));
}

function* findInSteps(pattern: RE2JS, of: string, limit: bigint): Steps<Items> {
  const found: Value[] = [];
  const matcher = pattern.matcher(of);
  const size = searchSize(pattern, 'x');
  let spent = 0;
  let sinceStep = 0;
  while ((limit < 0n || BigInt(found.length) < limit) && matcher.find()) {
    found.push(matcher.group() ?? '');
    const left = (of.length - matcher.end()) * size;
    spent += left;
    if (spent > MAX_FIND_ALL) throw new CostExceeded();
    sinceStep += left;
    if (sinceStep > FIND_PER_STEP) {
      sinceStep = 0;
      yield;
    }
  }
  return new Items(found);
}

const ONE_UNIT = /^[\0-\ud7ff\ue000-\uffff]*$/;

/** A text by characters: where none is written as a pair, positions are those of the string itself. */
function characters(of: string): { readonly length: number; readonly slice: (from: number, to: number) => string } {
  if (ONE_UNIT.test(of)) return { length: of.length, slice: (from, to) => of.slice(from, to) };
  const all = [...of];
  return { length: all.length, slice: (from, to) => all.slice(from, to).join('') };
}

/** The number of characters before a position. */
function charactersBefore(of: string, position: number): bigint {
  return position < 0 ? -1n : BigInt(characters(of.slice(0, position)).length);
}

function positions(): readonly Overload[] {
  return [
    declare('string.charAt(int): string', (a, i) => charAt(text(a), i as bigint)),
    declare('string.indexOf(string): int', (a, b) => charactersBefore(text(a), text(a).indexOf(text(b))), OF_SEARCH),
    declare(
      'string.indexOf(string, int): int',
      (a, b, from) => {
        const start = unitsOf(text(a), from as bigint);
        return charactersBefore(text(a), text(a).indexOf(text(b), start));
      },
      OF_SEARCH,
    ),
    declare(
      'string.lastIndexOf(string): int',
      (a, b) => charactersBefore(text(a), text(a).lastIndexOf(text(b))),
      OF_SEARCH,
    ),
    declare(
      'string.lastIndexOf(string, int): int',
      (a, b, from) => {
        const start = unitsOf(text(a), from as bigint);
        return charactersBefore(text(a), text(a).lastIndexOf(text(b), start));
      },
      OF_SEARCH,
    ),
    declare('string.substring(int): string', (a, from) => substring(text(a), from as bigint, undefined), OF_TEXT),
    declare(
      'string.substring(int, int): string',
      (a, from, to) => substring(text(a), from as bigint, to as bigint),
      OF_TEXT,
    ),
  ];
}

function charAt(of: string, index: bigint): string {
  const { length, slice } = characters(of);
  if (index < 0n || index > BigInt(length)) throw new EvalError(`index out of range: ${index}`);
  return slice(Number(index), Number(index) + 1);
}

/** UTF-16 units before a character. */
function unitsOf(of: string, index: bigint): number {
  const { length, slice } = characters(of);
  if (index < 0n || index > BigInt(length)) throw new EvalError(`index out of range: ${index}`);
  return slice(0, Number(index)).length;
}

function substring(of: string, from: bigint, to: bigint | undefined): string {
  const { length, slice } = characters(of);
  const end = to ?? BigInt(length);
  if (from < 0n || from > BigInt(length)) throw new EvalError(`index out of range: ${from}`);
  if (end < 0n || end > BigInt(length)) throw new EvalError(`index out of range: ${end}`);
  if (from > end) throw new EvalError(`invalid substring range. start: ${from}, end: ${end}`);
  return slice(Number(from), Number(end));
}

const BLANK_START = /^[\s\u0085]+/;

function trimmed(of: string): string {
  // From the end by hand: a pattern that ends there tries each run of blanks.
  let end = of.length;
  while (end > 0 && /[\s\u0085]/.test(of[end - 1] as string) && of[end - 1] !== '\ufeff') end -= 1;
  return of.slice(0, end).replace(BLANK_START, '');
}

function limited(of: string): string {
  if (of.length > MAX_TEXT) throw new CostExceeded();
  return of;
}

function replace(of: string, part: string, by: string, limit: bigint): string {
  if (limit === 0n) return of;
  const pieces = part === '' ? ['', ...of, ''] : of.split(part);
  const count = limit < 0n ? pieces.length - 1 : Math.min(Number(limit), pieces.length - 1);
  if (of.length + count * by.length > MAX_TEXT) throw new CostExceeded();
  const head = pieces.slice(0, count).join(by);
  return count === 0 ? of : `${head}${by}${pieces.slice(count).join(part)}`;
}

function split(of: string, by: string, limit: bigint): Items {
  if (limit === 0n) return new Items([]);
  const pieces = by === '' ? [...of] : of.split(by);
  if (limit < 0n || BigInt(pieces.length) <= limit) return new Items(pieces);
  const kept = Number(limit) - 1;
  return new Items([...pieces.slice(0, kept), pieces.slice(kept).join(by)]);
}

function join(list: ListValue, by: string): string {
  const parts: string[] = [];
  let length = 0;
  for (let index = 0; index < list.length; index += 1) {
    const part = list.at(index);
    if (typeof part !== 'string') throw new EvalError('no such overload');
    length += part.length + by.length;
    if (length > MAX_TEXT) throw new CostExceeded();
    parts.push(part);
  }
  return parts.join(by);
}
