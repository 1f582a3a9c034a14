import type { Turn } from '../async/turn';
import type { CacheEntry } from '../storage/cache/cache';
import { reads } from '../storage/cache/reads';
import type { Cancellation } from '../storage/store';

export type Matches = (entry: CacheEntry) => boolean;

/** Between two looks at the clock. */
const ENTRIES_PER_LOOK = 32;
/** The same where a selector has entries parsed, or looked through: some tenths of a millisecond. */
const BYTES_PER_LOOK = 16 * 1024;

/** How much is taken at a time. */
export interface SelectLimits {
  readonly entries?: number | undefined;
  /** With the one that reaches it. */
  readonly bytes?: number;
}

/**
 * Takes from the iterator until as much matches as is wanted at a time, or none is left. Gives way to others while it looks through many that do
 * not match. Throws the reason when the call is not waited for any more.
 */
export async function selectNext(
  entries: Iterator<CacheEntry>,
  matches: Matches | undefined,
  limits: SelectLimits,
  reader: Cancellation,
  turn: Turn,
): Promise<CacheEntry[]> {
  const { entries: most = Infinity, bytes: mostBytes = Infinity } = limits;
  const selected: CacheEntry[] = [];
  let bytes = 0;
  let seen = 0;
  let lookedAt = reads.bytes;
  while (selected.length < most && bytes < mostBytes) {
    const next = entries.next();
    if (next.done === true) break;
    if (matches === undefined || matches(next.value)) {
      selected.push(next.value);
      bytes += next.value.size;
    }
    if (++seen % ENTRIES_PER_LOOK !== 0 && reads.bytes - lookedAt < BYTES_PER_LOOK) continue;
    lookedAt = reads.bytes;
    if (!turn.isOver) continue;
    await turn.next();
    reader.throwIfAborted();
  }
  return selected;
}
