import type { MaybePromise } from '../../../api/maybe-promise';
import { cacheLimit } from '../../../memory/memory-limit';
import type { CacheEntry } from '../../../storage/cache/cache';
import { lengthOf } from '../pieces';
import type { ItemForm } from './item-form';
import { JoinedChunks } from './chunks/joined-chunks';
import { runEnd, type RunLengths } from './chunks/chunk-end';

/** Whose bytes are there already: one by one would cost as much as copying them. */
export const READY_AT_ONCE = 200;
/** That are parsed or encoded, some ten or hundred microseconds each. */
export const ENCODED_AT_ONCE = 16;
const ENCODED_BYTES_AT_ONCE = 64 * 1024;

/** A list's body: the head, the items with separators between them, the tail. */
export interface ListParts {
  /** As a function: depends on how many bytes all items and separators have. */
  readonly head: Buffer | ((itemsLength: number) => Buffer);
  readonly items: ItemForm;
  readonly entries: readonly CacheEntry[];
  readonly tail: Buffer;
  /** Of the whole body, where it is known before the items are made. */
  readonly length?: number;
  /** One item where it cannot be made at once; undefined: it can. A list that may have such is not put together at once. */
  readonly later?: (entry: CacheEntry) => Promise<readonly Uint8Array[]> | undefined;
}

/** Runs that a connection takes in one write without its costs showing. */
const JOINED_BYTES: RunLengths = { least: 256 * 1024, mean: 512 * 1024, most: 1024 * 1024 };
const MAX_REMEMBERED_BYTES = cacheLimit(16 * 1024 * 1024);
/** Of a longer list little would be left when it is asked for again; a shorter one is copied as soon. */
const JOINED_LIST_BYTES = { least: 256 * 1024, most: MAX_REMEMBERED_BYTES / 2 };

const remembered = new JoinedChunks(MAX_REMEMBERED_BYTES);

/** Some items, which are one piece where they are a remembered run. */
interface Step {
  readonly from: number;
  readonly to: number;
  readonly joined: Buffer | undefined;
}

/**
 * The body in order, uncompressed; some pieces at a time, and none while the items are only measured. Items are not held all
 * at once, but for lists that are neither short nor long and asked for again and again. Where the head depends on their
 * length, items are made twice unless they are remembered.
 */
export function* listPieces(list: ListParts, runs = remembered): Iterable<readonly Uint8Array[]> {
  const { items, entries, tail } = list;
  const { separator } = items;
  const isJoined = items.joinable && isWorthJoining(list);
  let { head } = list;
  if (typeof head === 'function') {
    let length = 0;
    for (const { from, to, joined } of steps(list, isJoined, runs.find.bind(runs))) {
      if (from > 0) length += separator.length;
      if (joined !== undefined) length += joined.length;
      else length += lengthOfItems(items, entries, from, to);
      yield [];
    }
    head = head(length);
  }
  yield [head];
  for (const { from, to, joined } of steps(list, isJoined, runs.get.bind(runs))) {
    if (from > 0) yield [separator];
    yield joined === undefined ? items.pieces(entries, from, to) : [joined];
  }
  yield [tail];
}

/** The body of a list some of whose items are made later: where the head depends on their length, as {@link listPieces}. */
export function* laterPieces(
  list: ListParts,
  later: NonNullable<ListParts['later']>,
): Iterable<MaybePromise<readonly Uint8Array[]>> {
  const { items, entries, tail } = list;
  const { separator } = items;
  let { head } = list;
  if (typeof head === 'function') {
    let length = separator.length * Math.max(0, entries.length - 1);
    for (const [index, entry] of entries.entries()) {
      const made = later(entry);
      if (made === undefined) length += lengthOfItems(items, entries, index, index + 1);
      yield made?.then((pieces) => {
        length += lengthOf(pieces);
        return [];
      }) ?? [];
    }
    head = head(length);
  }
  yield [head];
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && separator.length > 0) yield [separator];
    yield later(entry) ?? items.pieces(entries, index, index + 1);
  }
  yield [tail];
}

/** The body of any list. */
export function bodyPieces(list: ListParts): Iterable<MaybePromise<readonly Uint8Array[]>> {
  return list.later === undefined ? listPieces(list) : laterPieces(list, list.later);
}

function lengthOfItems(items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): number {
  return items.length?.(entries, from, to) ?? lengthOf(items.pieces(entries, from, to));
}

function* steps({ items, entries }: ListParts, isJoined: boolean, joinedRun: JoinedChunks['get']): Iterable<Step> {
  for (let from = 0; from < entries.length;) {
    const end = isJoined ? runEnd(entries, from, JOINED_BYTES) : entries.length;
    const joined = isJoined ? joinedRun(items, entries, from, end) : undefined;
    while (from < end) {
      const to = joined === undefined ? stepEnd(items, entries, from, end) : end;
      yield { from, to, joined };
      from = to;
    }
  }
}

/** Fewer than `atOnce` where they are large and something has to be made of them. */
function stepEnd({ atOnce, weight }: ItemForm, entries: readonly CacheEntry[], from: number, end: number): number {
  const most = Math.min(from + atOnce, end);
  if (atOnce > ENCODED_AT_ONCE) return most;
  let to = from + 1;
  for (let bytes = entries[from]!.body.length; to < most && bytes * weight < ENCODED_BYTES_AT_ONCE; to++) {
    bytes += entries[to]!.body.length;
  }
  return to;
}

/** What is stored of them. */
export function storedBytes(entries: readonly CacheEntry[]): number {
  let bytes = 0;
  for (const { body } of entries) bytes += body.length;
  return bytes;
}

function isWorthJoining({ entries, length }: ListParts): boolean {
  const { least, most } = JOINED_LIST_BYTES;
  if (length !== undefined) return length >= least && length <= most;
  let bytes = 0;
  for (let index = 0; index < entries.length && bytes <= most; index++) bytes += entries[index]!.body.length;
  return bytes >= least && bytes <= most;
}

/** Items that are made one by one. */
export function eachItem(
  separator: Buffer,
  shared: boolean,
  itemPieces: (entry: CacheEntry, among: readonly CacheEntry[]) => readonly Uint8Array[],
  weight = 1,
): ItemForm {
  return {
    separator,
    shared,
    joinable: false,
    atOnce: ENCODED_AT_ONCE,
    weight,
    pieces: (entries, from, to) => {
      const pieces: Uint8Array[] = [];
      for (let index = from; index < to; index++) {
        if (index > from && separator.length > 0) pieces.push(separator);
        pieces.push(...itemPieces(entries[index]!, entries));
      }
      return pieces;
    },
  };
}
