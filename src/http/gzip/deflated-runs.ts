import { crc32 } from 'node:zlib';
import type { MaybePromise } from '../../api/maybe-promise';
import type { CacheEntry } from '../../storage/cache/cache';
import { blocks } from '../block-writer';
import { crc32Shift } from './crc32-append';
import { deflatePiece } from './deflate-pool';
import { EntryMemo } from '../entry-memo';
import type { DeflatedPart } from './gzip-file';
import { lengthOf, type ItemForm } from '../list-parts';

/** Lists with different selectors have different runs that begin with the same entry. */
const RUNS_PER_FIRST_ENTRY = 2;
/** What the runs of a first entry take beside their bytes: the objects, and a reference for each entry. */
const OVERHEAD_BYTES = 512;
const ENTRY_BYTES = 8;

interface Run {
  readonly items: ItemForm;
  readonly entries: readonly CacheEntry[];
  deflated: MaybePromise<DeflatedPart>;
}

/**
 * The runs of lists, each compressed once for all lists in which it stands. Found by its first entry and remembered only
 * as long as that entry lives: it holds others in memory that have changed since, but only until another run that begins with
 * its first entry takes its place.
 */
export class DeflatedRuns {
  private readonly memo: EntryMemo<readonly Run[]>;

  constructor(maxBytes: number) {
    this.memo = new EntryMemo<readonly Run[]>({ entries: Infinity, bytes: maxBytes, sizeOf });
  }

  /**
   * The items from `from` to before `to`. At once where they are remembered; those who ask for what is being compressed
   * wait for the same. Compresses on the thread pool.
   */
  get(items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): MaybePromise<DeflatedPart> {
    const known = this.memo.find(entries[from]!)?.find((run) => isRun(run, items, entries, from, to));
    if (known !== undefined) return known.deflated;
    const own = entries.slice(from, to);
    const run: Run = { items, entries: own, deflated: deflate(items, own) };
    this.remember(run);
    void this.settle(run);
    return run.deflated;
  }

  private async settle(run: Run): Promise<void> {
    try {
      run.deflated = await run.deflated;
      this.remember(run);
    } catch {
      // Whoever waits for it is told; the next one tries again.
      this.forget(run);
    }
  }

  private remember(run: Run): void {
    this.memo.set(run.entries[0]!, [run, ...this.othersOf(run).slice(0, RUNS_PER_FIRST_ENTRY - 1)]);
  }

  private forget(run: Run): void {
    this.memo.set(run.entries[0]!, this.othersOf(run));
  }

  /** What is remembered for its first entry beside it, the newest first. */
  private othersOf(run: Run): readonly Run[] {
    return (this.memo.find(run.entries[0]!) ?? []).filter((other) => other !== run);
  }
}

function sizeOf(runs: readonly Run[]): number {
  let bytes = OVERHEAD_BYTES;
  for (const { entries, deflated } of runs) {
    bytes += entries.length * ENTRY_BYTES;
    if (!(deflated instanceof Promise)) bytes += deflated.bytes.length;
  }
  return bytes;
}

/** Entries never change, and so the same ones have the same bytes. */
function isRun(run: Run, items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): boolean {
  if (run.items !== items || run.entries.length !== to - from) return false;
  return run.entries.every((entry, index) => entry === entries[from + index]);
}

async function deflate(items: ItemForm, entries: readonly CacheEntry[]): Promise<DeflatedPart> {
  const { plain, done } = joined(items.pieces(entries, 0, entries.length));
  const part = { length: plain.length, crc: crc32(plain), shift: crc32Shift(plain.length) };
  const bytes = await deflatePiece(plain);
  done();
  return { ...part, bytes };
}

/** The pieces as one, in a block if they fit. `done` must only be called when nobody reads them any more. */
function joined(pieces: readonly Uint8Array[]): { readonly plain: Buffer; readonly done: () => void } {
  const length = lengthOf(pieces);
  const fits = length <= blocks.blockBytes;
  const block = fits ? blocks.take() : Buffer.allocUnsafeSlow(length);
  let used = 0;
  for (const piece of pieces) {
    block.set(piece, used);
    used += piece.length;
  }
  return { plain: block.subarray(0, length), done: () => fits && blocks.give(block) };
}
