import type { CacheEntry } from '../storage/cache/cache';

/** How entries are written as the items of a list: the same bytes for an entry in whichever list it stands. */
export interface ItemForm {
  /** Between two items; may be empty. */
  readonly separator: Buffer;
  /** The items from `from` to before `to`, with the separators between them. */
  pieces(entries: readonly CacheEntry[], from: number, to: number): Iterable<Uint8Array>;
}

/** A list's body: the head, the items with separators between them, the tail. */
export interface ListParts {
  /** As a function: depends on how many bytes all items and separators have. */
  readonly head: Buffer | ((itemsLength: number) => Buffer);
  readonly items: ItemForm;
  readonly entries: readonly CacheEntry[];
  readonly tail: Buffer;
}

/** The body in order, uncompressed. */
export function* listPieces({ head, items, entries, tail }: ListParts): Iterable<Uint8Array> {
  let pieces = items.pieces(entries, 0, entries.length);
  if (typeof head === 'function') {
    const all = [...pieces];
    yield head(lengthOf(all));
    pieces = all;
  } else {
    yield head;
  }
  yield* pieces;
  yield tail;
}

/** What pieces or parts have together. */
export function lengthOf(pieces: readonly { readonly length: number }[]): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}
