import { BlockPool } from './block-pool';
import { cacheLimit } from './memory-limit';

const NOTHING: Buffer = Buffer.alloc(0);

const BLOCK_BYTES = 128 * 1024;
const MAX_FREE_BYTES = cacheLimit(32 * 1024 * 1024);

/**
 * Of all bodies. Those of clients that never send the end would otherwise lie about as garbage until the next full collection, as
 * many bytes as may be held at once, and leave holes of all sizes in the memory of the process.
 */
const pool = new BlockPool(BLOCK_BYTES, MAX_FREE_BYTES);

/**
 * Bytes that come in pieces of any size. A single piece that is all, or most of the memory that it is part of, is kept as it is;
 * others are copied into blocks, each as large as all before it, up to 128 KiB, so that what is kept does not depend on how they
 * were cut, nor on the larger memory that they are parts of. Nothing is moved until all are taken.
 */
export class GrowingBytes {
  /** Those that are full. */
  #blocks: Buffer[] | undefined;
  /** Those that go back to the pool. */
  #pooled: Buffer[] | undefined;
  #last = NOTHING;
  #used = 0;
  #length = 0;

  /** `expected`: how many bytes will come, if that is known; no more memory is taken than for these, unless more come. */
  constructor(private readonly expected = NaN) {}

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) {
      const isWhole = length === this.expected || 2 * length >= piece.buffer.byteLength;
      this.#last = isWhole ? piece : Buffer.from(piece);
      this.#used = length;
    } else {
      this.#append(piece);
    }
    this.#length = length;
  }

  /** All of them; nothing is kept. */
  take(): Buffer {
    const last = this.#last.subarray(0, this.#used);
    const taken = this.#blocks === undefined ? last : this.#joined([...this.#blocks, last]);
    this.drop();
    return taken;
  }

  /** Nobody wants them any more: nothing is kept. */
  drop(): void {
    for (const block of this.#pooled ?? []) pool.release(block);
    this.#blocks = undefined;
    this.#pooled = undefined;
    this.#last = NOTHING;
    this.#used = 0;
    this.#length = 0;
  }

  #joined(blocks: readonly Buffer[]): Buffer {
    const joined = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    for (const block of blocks) at += block.copy(joined, at);
    return joined;
  }

  #append(piece: Buffer): void {
    const fitting = Math.min(piece.length, this.#last.length - this.#used);
    if (fitting > 0) piece.copy(this.#last, this.#used, 0, fitting);
    this.#used += fitting;
    if (fitting < piece.length) this.#addBlock(piece.subarray(fitting), this.#length + fitting);
  }

  #addBlock(rest: Buffer, before: number): void {
    (this.#blocks ??= []).push(this.#last);
    const missing = this.expected - before;
    const most = rest.length <= missing ? missing : Infinity;
    this.#last = this.#newBlock(Math.min(Math.max(before, rest.length), most), rest.length);
    rest.copy(this.#last);
    this.#used = rest.length;
  }

  /** `least`: what it has to hold. */
  #newBlock(bytes: number, least: number): Buffer {
    if (bytes < pool.blockBytes || least > pool.blockBytes) return Buffer.allocUnsafeSlow(bytes);
    const block = pool.acquire();
    (this.#pooled ??= []).push(block);
    return block;
  }
}
