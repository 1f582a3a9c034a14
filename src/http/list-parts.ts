import type { CacheEntry } from '../storage/cache/cache';

/** How entries are written as the items of a list: the same bytes for an entry in whichever list it stands. */
export interface ItemForm {
  /** Between two items; may be empty. */
  readonly separator: Buffer;
  /** There is one such form for all lists, which may remember by it what was made of their items. */
  readonly shared: boolean;
  /** How many are turned into pieces at a time: few where it takes long, for others wait meanwhile. */
  readonly atOnce: number;
  /** The bytes that these will have, where that can be said without making the pieces. */
  readonly length?: (entries: readonly CacheEntry[], from: number, to: number) => number;
  /** The items from `from` to before `to`, with the separators between them. */
  pieces(entries: readonly CacheEntry[], from: number, to: number): readonly Uint8Array[];
}

/** Whose bytes are there already: one by one would cost as much as copying them. */
export const READY_AT_ONCE = 200;
/** That are parsed or encoded, some ten or hundred microseconds each. */
export const ENCODED_AT_ONCE = 16;

/** A list's body: the head, the items with separators between them, the tail. */
export interface ListParts {
  /** As a function: depends on how many bytes all items and separators have. */
  readonly head: Buffer | ((itemsLength: number) => Buffer);
  readonly items: ItemForm;
  readonly entries: readonly CacheEntry[];
  readonly tail: Buffer;
  /** Of the whole body, where it is known before the items are made. */
  readonly length?: number;
}

/**
 * The body in order, uncompressed; some pieces at a time, and none while the items are only measured. Items are never held
 * all at once: where the head depends on their length, they are made twice if nobody remembers them.
 */
export function* listPieces({ head, items, entries, tail }: ListParts): Iterable<readonly Uint8Array[]> {
  if (typeof head === 'function') {
    let length = 0;
    for (const { from, to } of steps(items, entries)) {
      if (from > 0) length += items.separator.length;
      length += items.length?.(entries, from, to) ?? lengthOf(items.pieces(entries, from, to));
      yield [];
    }
    head = head(length);
  }
  yield [head];
  for (const { from, to } of steps(items, entries)) {
    if (from > 0) yield [items.separator];
    yield items.pieces(entries, from, to);
  }
  yield [tail];
}

function* steps(
  { atOnce }: ItemForm,
  { length }: readonly CacheEntry[],
): Iterable<{ readonly from: number; readonly to: number }> {
  for (let from = 0; from < length; from += atOnce) yield { from, to: Math.min(from + atOnce, length) };
}

/** What pieces or parts have together. */
export function lengthOf(pieces: readonly { readonly length: number }[]): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}

/** Items that are made one by one. */
export function eachItem(
  separator: Buffer,
  shared: boolean,
  itemPieces: (entry: CacheEntry) => readonly Uint8Array[],
): ItemForm {
  return {
    separator,
    shared,
    atOnce: ENCODED_AT_ONCE,
    pieces: (entries, from, to) => {
      const pieces: Uint8Array[] = [];
      for (let index = from; index < to; index++) {
        if (index > from && separator.length > 0) pieces.push(separator);
        pieces.push(...itemPieces(entries[index]!));
      }
      return pieces;
    },
  };
}
