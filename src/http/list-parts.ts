import type { CacheEntry } from '../storage/cache/cache';

/** How entries are written as the items of a list: the same bytes for an entry in whichever list it stands. */
export interface ItemForm {
  /** Between two items; may be empty. */
  readonly separator: Buffer;
  /** The items from `from` to before `to`, with the separators between them. */
  pieces(entries: readonly CacheEntry[], from: number, to: number): readonly Uint8Array[];
}

/** A list's body: the head, the items with separators between them, the tail. */
export interface ListParts {
  /** As a function: depends on how many bytes all items and separators have. */
  readonly head: Buffer | ((itemsLength: number) => Buffer);
  readonly items: ItemForm;
  readonly entries: readonly CacheEntry[];
  readonly tail: Buffer;
}

/** Items that are turned into pieces at a time. One by one would cost as much as copying them. */
const ITEMS_AT_ONCE = 200;

/** The body in order, uncompressed; some pieces at a time. */
export function* listPieces({ head, items, entries, tail }: ListParts): Iterable<readonly Uint8Array[]> {
  if (typeof head === 'function') {
    const all = items.pieces(entries, 0, entries.length);
    yield [head(lengthOf(all))];
    yield all;
  } else {
    yield [head];
    for (let from = 0; from < entries.length; from += ITEMS_AT_ONCE) {
      if (from > 0) yield [items.separator];
      yield items.pieces(entries, from, Math.min(from + ITEMS_AT_ONCE, entries.length));
    }
  }
  yield [tail];
}

/** What pieces or parts have together. */
export function lengthOf(pieces: readonly { readonly length: number }[]): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}
