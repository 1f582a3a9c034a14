import type { Turn } from '../async/turn';
import type { CacheEntry } from '../storage/cache/cache';
import type { Cancellation } from '../storage/store';

export type Matches = (entry: CacheEntry) => boolean;

/** Entries between two looks at the clock: a selector may have to parse each of them. */
const ENTRIES_PER_LOOK = 4;

/**
 * Takes from the iterator until `limit` entries match or none is left. Gives way to others while it looks through many that do
 * not match. Throws the reason when the call is not waited for any more.
 */
export async function selectNext(
  entries: Iterator<CacheEntry>,
  matches: Matches | undefined,
  limit: number,
  reader: Cancellation,
  turn: Turn,
): Promise<CacheEntry[]> {
  const selected: CacheEntry[] = [];
  let seen = 0;
  while (selected.length < limit) {
    const next = entries.next();
    if (next.done === true) break;
    if (matches === undefined || matches(next.value)) selected.push(next.value);
    if (++seen % ENTRIES_PER_LOOK === 0 && turn.isOver) {
      await turn.next();
      reader.throwIfAborted();
    }
  }
  return selected;
}
