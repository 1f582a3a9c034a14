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
import { countCharacters } from '../../count-characters';
import { countPassed } from '../extra-work';
import { formatString } from './format-string';
import { limited, MAX_TEXT } from './text-limits';
import { indexIn, lastIndexIn, lowerAscii, piecesOf, replaceSteps, reversed, upperAscii } from './text-units';

/** Nor a longer list of texts: it would have more values than an object may have. */
const MAX_PIECES = 100_000;
/** Texts up to here are quoted, or have parts replaced, in less than two milliseconds. */
const LENGTH_AT_ONCE = 32 * 1024;

const OF_SECOND: Cost = { of: ([, part = 0]) => traversal(part) };
const OF_TWICE: Cost = { of: ([size = 0]) => 2 * traversal(size), result: ([size = 0]) => size };

const text = (value: Value | undefined): string => value as string;

/** Of the language, of cel-go's extended strings (version 2), and of Kubernetes. Positions count characters. */
export function stringFunctions(): readonly Overload[] {
  return [
    declare('string.contains(string): bool', (a, b) => indexIn(text(a), text(b)) >= 0, OF_SEARCH),
    declare('string.startsWith(string): bool', (a, b) => text(a).startsWith(text(b)), OF_SECOND),
    declare('string.endsWith(string): bool', (a, b) => text(a).endsWith(text(b)), OF_SECOND),
    declare('string.matches(string): bool', (a, b) => matches(text(a), text(b)), OF_REGEX),
    declare('matches(string, string): bool', (a, b) => matches(text(a), text(b)), OF_REGEX),
    declare('string.find(string): string', (a, b) => find(text(a), text(b)), OF_REGEX),
    declare('string.findAll(string): list<string>', (a, b) => findAll(text(a), text(b), -1n), OF_REGEX),
    declare('string.findAll(string, int): list<string>', (a, b, n) => findAll(text(a), text(b), n as bigint), OF_REGEX),
    ...positions(),
    declare('string.lowerAscii(): string', (a) => lowerAscii(text(a)), OF_TEXT),
    declare('string.upperAscii(): string', (a) => upperAscii(text(a)), OF_TEXT),
    declare('string.trim(): string', (a) => trimmed(text(a)), OF_TEXT),
    declare('string.reverse(): string', (a) => reversed(text(a)), OF_TEXT),
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
    declare('strings.quote(string): string', (a) => quoted(text(a)), OF_TEXT),
    declare('string.format(list<dyn>): string', (a, list) => formatString(text(a), list as ListValue), OF_TEXT),
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

/** Which part is found cannot be looked for in steps: characters times instructions of one search, some 15 ms. */
const MAX_FIND = 1_000_000;
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

/** Half of a character that UTF-16 writes as a pair. */
const HALF_OF_PAIR = /[\ud800-\udfff]/;

/** UTF-16 units before a character; positions count characters. Throws an EvalError for one beyond the end. */
function unitsBefore(of: string, index: bigint): number {
  countPassed(of.length);
  if (index < 0n || index > BigInt(of.length)) throw new EvalError(`index out of range: ${index}`);
  if (!HALF_OF_PAIR.test(of)) return Number(index);
  let unit = 0;
  for (let left = Number(index); left > 0; left -= 1) {
    if (unit === of.length) throw new EvalError(`index out of range: ${index}`);
    unit += unitsAt(of, unit);
  }
  return unit;
}

function unitsAt(of: string, unit: number): number {
  return (of.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
}

/** The number of characters before a position. */
function charactersBefore(of: string, position: number): bigint {
  return position < 0 ? -1n : BigInt(countCharacters(of.slice(0, position)));
}

function positions(): readonly Overload[] {
  return [
    declare('string.charAt(int): string', (a, i) => charAt(text(a), i as bigint)),
    declare('string.indexOf(string): int', (a, b) => charactersBefore(text(a), indexIn(text(a), text(b))), OF_SEARCH),
    declare(
      'string.indexOf(string, int): int',
      (a, b, from) => {
        const start = unitsBefore(text(a), from as bigint);
        return charactersBefore(text(a), indexIn(text(a), text(b), start));
      },
      OF_SEARCH,
    ),
    declare(
      'string.lastIndexOf(string): int',
      (a, b) => charactersBefore(text(a), lastIndexIn(text(a), text(b))),
      OF_SEARCH,
    ),
    declare(
      'string.lastIndexOf(string, int): int',
      (a, b, from) => {
        const start = unitsBefore(text(a), from as bigint);
        return charactersBefore(text(a), lastIndexIn(text(a), text(b), start));
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
  const unit = unitsBefore(of, index);
  return of.slice(unit, unit + unitsAt(of, unit));
}

function substring(of: string, from: bigint, to: bigint | undefined): string {
  const start = unitsBefore(of, from);
  const end = to === undefined ? of.length : unitsBefore(of, to);
  if (start > end) throw new EvalError(`invalid substring range. start: ${from}, end: ${to}`);
  return of.slice(start, end);
}

/** What Go's unicode.IsSpace says. */
function isBlank(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return code === 0x85 || (code !== 0xfeff && /\s/.test(String.fromCharCode(code)));
}

function trimmed(of: string): string {
  let end = of.length;
  while (end > 0 && isBlank(of.charCodeAt(end - 1))) end -= 1;
  let start = 0;
  while (start < end && isBlank(of.charCodeAt(start))) start += 1;
  return of.slice(start, end);
}

function replace(of: string, part: string, by: string, limit: bigint): string {
  if (limit === 0n) return of;
  const begin = (): Steps<string> => replacedInSteps(of, part, by, limit < 0n ? Infinity : Number(limit));
  if (of.length <= LENGTH_AT_ONCE) return atOnce(begin());
  return inSteps(`replace ${limit} ${JSON.stringify([part, by])}`, of, begin);
}

function* replacedInSteps(of: string, part: string, by: string, most: number): Steps<string> {
  const result = yield* replaceSteps(of, part, by, most, MAX_TEXT);
  if (result === undefined) throw new CostExceeded();
  return result;
}

function split(of: string, by: string, limit: bigint): Items {
  if (limit === 0n) return new Items([]);
  const pieces: string[] = [];
  for (const piece of piecesOf(of, by, limit < 0n ? Infinity : Number(limit))) {
    if (pieces.push(piece) > MAX_PIECES) throw new CostExceeded();
  }
  return new Items(pieces);
}

function quoted(of: string): string {
  if (of.length <= LENGTH_AT_ONCE) return quoteWhole(of);
  return inSteps('quote', of, () => quotedInSteps(of));
}

function* quotedInSteps(of: string): Steps<string> {
  let parts = '';
  for (let start = 0; start < of.length;) {
    const end = start + LENGTH_AT_ONCE;
    // A pair is one character.
    const to = end < of.length && unitsAt(of, end - 1) === 2 ? end + 1 : end;
    parts = limited(parts + quoteWhole(of.slice(start, to)).slice(1, -1));
    start = to;
    yield;
  }
  return `"${parts}"`;
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
