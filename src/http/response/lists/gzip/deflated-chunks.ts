import { crc32 } from 'node:zlib';
import type { MaybePromise } from '../../../../api/maybe-promise';
import type { CacheEntry } from '../../../../storage/cache/cache';
import { blocks } from '../../block-writer';
import { crc32Shift } from './crc32-append';
import { deflatePiece } from './deflate-pool';
import type { DeflatedPart } from './gzip-file';
import type { ItemForm } from '../item-form';
import { copyPieces, lengthOf } from '../../pieces';
import { ChunkCache, type Run } from '../chunks/chunk-cache';

type DeflatedRun = Run<MaybePromise<DeflatedPart>>;

/** The runs of lists, each compressed once for all lists in which it stands. */
export class DeflatedChunks {
  private readonly memo: ChunkCache<MaybePromise<DeflatedPart>>;

  constructor(maxBytes: number) {
    this.memo = new ChunkCache(maxBytes, (made) => (made instanceof Promise ? 0 : made.bytes.length));
  }

  /**
   * The items from `from` to before `to`. At once where they are remembered; those who ask for what is being compressed
   * wait for the same. Compresses on the thread pool.
   */
  get(items: ItemForm, entries: readonly CacheEntry[], from: number, to: number): MaybePromise<DeflatedPart> {
    const known = this.memo.find(items, entries, from, to);
    if (known !== undefined) return known.made;
    const run: DeflatedRun = { items, entries: entries.slice(from, to), made: deflate(items, entries, from, to) };
    this.memo.remember(run);
    void this.settle(run);
    return run.made;
  }

  private async settle(run: DeflatedRun): Promise<void> {
    try {
      run.made = await run.made;
      this.memo.remember(run);
    } catch {
      // Its caller is told; the next one tries again.
      this.memo.forget(run);
    }
  }
}

async function deflate(
  items: ItemForm,
  entries: readonly CacheEntry[],
  from: number,
  to: number,
): Promise<DeflatedPart> {
  const { plain, done } = joined(items.pieces(entries, from, to));
  const part = { length: plain.length, crc: crc32(plain), shift: crc32Shift(plain.length) };
  const bytes = await deflatePiece(plain);
  done();
  return { ...part, bytes };
}

/** The pieces as one, in a block if they fit. `done` must only be called when they are not read any more. */
function joined(pieces: readonly Uint8Array[]): { readonly plain: Buffer; readonly done: () => void } {
  const length = lengthOf(pieces);
  const fits = length <= blocks.blockBytes;
  const block = fits ? blocks.acquire() : Buffer.allocUnsafeSlow(length);
  copyPieces(pieces, block);
  return { plain: block.subarray(0, length), done: () => fits && blocks.release(block) };
}
