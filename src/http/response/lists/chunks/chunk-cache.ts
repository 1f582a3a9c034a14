import type { CacheEntry } from '../../../../storage/cache/cache';
import { EntryCache } from '../../entry-cache';
import type { ItemForm } from '../item-form';

/** Neighbours in a list, and what was made of them in one form. */
export interface Run<Made> {
  readonly items: ItemForm;
  readonly entries: readonly CacheEntry[];
  made: Made;
}

/** Lists with different selectors have different runs that begin with the same entry. */
const RUNS_PER_FIRST_ENTRY = 2;
/** What the runs of a first entry take beside their bytes: the objects, and a reference for each entry. */
const OVERHEAD_BYTES = 512;
const ENTRY_BYTES = 8;

/**
 * Remembers runs of lists for all lists in which they stand. A run is found by its first entry and remembered only as long
 * as that entry lives: it holds others in memory that have changed since, but only until another run that begins with its
 * first entry takes its place.
 */
export class ChunkCache<Made> {
  private readonly memo: EntryCache<readonly Run<Made>[]>;

  constructor(maxBytes: number, bytesOf: (made: Made) => number) {
    this.memo = new EntryCache<readonly Run<Made>[]>({
      entries: Infinity,
      bytes: maxBytes,
      sizeOf: (runs) => {
        let bytes = OVERHEAD_BYTES;
        for (const { entries, made } of runs) bytes += entries.length * ENTRY_BYTES + bytesOf(made);
        return bytes;
      },
    });
  }

  /** The run of exactly the entries from `from` to before `to`. */
  find(items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): Run<Made> | undefined {
    return this.memo.find(entries[from]!)?.find((run) => isRun(run, items, entries, from, to));
  }

  /** A new run, or one of which something else was made meanwhile. */
  remember(run: Run<Made>): void {
    this.memo.set(run.entries[0]!, [run, ...this.othersOf(run).slice(0, RUNS_PER_FIRST_ENTRY - 1)]);
  }

  forget(run: Run<Made>): void {
    this.memo.set(run.entries[0]!, this.othersOf(run));
  }

  /** What is remembered for its first entry beside it, the newest first. */
  private othersOf(run: Run<Made>): readonly Run<Made>[] {
    return (this.memo.find(run.entries[0]!) ?? []).filter((other) => other !== run);
  }
}

/** Entries never change, and so the same ones have the same bytes. */
function isRun(run: Run<unknown>, items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): boolean {
  if (run.items !== items || run.entries.length !== to - from) return false;
  return run.entries.every((entry, index) => entry === entries[from + index]);
}
