import type { CacheEntry } from '../../storage/cache/cache';
import type { ItemForm } from '../list-parts';
import { RunMemo, type Run } from './run-memo';

/**
 * Runs of lists as one piece each: a list that is asked for again and again is written from a few of them instead of
 * being put together from thousands of items each time. A run is joined when it is asked for the second time, so that a
 * list that nobody wants again costs no memory.
 */
export class JoinedRuns {
  private readonly memo: RunMemo<Buffer | undefined>;

  constructor(maxBytes: number) {
    this.memo = new RunMemo(maxBytes, (made) => made?.length ?? 0);
  }

  /** The items from `from` to before `to` with the separators between them; undefined the first time. Not to be changed. */
  get(items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): Buffer | undefined {
    const known = this.memo.find(items, entries, from, to);
    if (known?.made !== undefined) return known.made;
    const run: Run<Buffer | undefined> = known ?? { items, entries: entries.slice(from, to), made: undefined };
    if (known !== undefined) run.made = join(items.pieces(entries, from, to));
    this.memo.remember(run);
    return run.made;
  }

  /** The same if it has been joined. Asking does not count. */
  find(items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): Buffer | undefined {
    return this.memo.find(items, entries, from, to)?.made;
  }
}

/** Of its own memory: a part of a pool would keep the rest of it alive. */
function join(pieces: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const joined = Buffer.allocUnsafeSlow(length);
  let used = 0;
  for (const piece of pieces) {
    joined.set(piece, used);
    used += piece.length;
  }
  return joined;
}
