import type { CacheEntry } from '../../../../storage/cache/cache';
import type { ItemForm } from '../item-form';
import { joinPieces } from '../../pieces';
import { ChunkCache } from './chunk-cache';

/** How often a run is asked for before it is joined: one that changes as often as it is listed never pays for that. */
const ASKED_BEFORE = 15;

/** The joined bytes; before that, how often the run was asked for. */
type Joined = Buffer | number;

/**
 * Runs of lists as one piece each: a list that is asked for again and again is written from a few of them instead of
 * being put together from thousands of items each time. A list that is not asked for again, or that has changed by then, costs no
 * memory.
 */
export class JoinedChunks {
  private readonly memo: ChunkCache<Joined>;

  constructor(
    maxBytes: number,
    private readonly askedBefore = ASKED_BEFORE,
  ) {
    this.memo = new ChunkCache(maxBytes, (made) => (typeof made === 'number' ? 0 : made.length));
  }

  /**
   * The items from `from` to before `to` with the separators between them; undefined the first times. Not to be changed.
   */
  get(items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): Buffer | undefined {
    const known = this.memo.find(items, entries, from, to);
    if (known === undefined) {
      this.memo.remember({ items, entries: entries.slice(from, to), made: 1 });
      return undefined;
    }
    if (typeof known.made !== 'number') return known.made;
    if (known.made < this.askedBefore) {
      known.made++;
      return undefined;
    }
    const joined = joinPieces(items.pieces(entries, from, to));
    known.made = joined;
    this.memo.remember(known);
    return joined;
  }

  /** The same if it has been joined. Asking does not count. */
  find(items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): Buffer | undefined {
    const made = this.memo.find(items, entries, from, to)?.made;
    return typeof made === 'number' ? undefined : made;
  }
}
