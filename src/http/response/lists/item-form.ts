import type { CacheEntry } from '../../../storage/cache/cache';

/** How entries are written as the items of a list: the same bytes for an entry in whichever list it stands. */
export interface ItemForm {
  /** Between two items; may be empty. */
  readonly separator: Buffer;
  /** There is one such form for all lists, which may remember by it what was made of their items. */
  readonly shared: boolean;
  /** Runs of them may be kept as one piece; for entries whose bodies are there already. */
  readonly joinable: boolean;
  /** How many are turned into pieces at a time: few where it takes long, for others wait meanwhile. */
  readonly atOnce: number;
  /** How many times what is stored of an entry has to be looked through or written. */
  readonly weight: number;
  /** The bytes that these will have, where that can be said without making the pieces. */
  readonly length?: (entries: readonly CacheEntry[], from: number, to: number) => number;
  /** The items from `from` to before `to`, with the separators between them. */
  pieces(entries: readonly CacheEntry[], from: number, to: number): readonly Uint8Array[];
}
