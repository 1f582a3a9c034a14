import type { Writable } from 'node:stream';
import type { BlockPool } from '../memory/block-pool';
import { HEADER_BYTES, writeFrameHeader } from './frames';

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Gathers what is to be sent next. It is copied, so that its writer may use its memory again; and the block that it is
 * copied to is used again too, because memory for every frame and every packet would be most of what sending costs.
 */
export class WriteBuffer {
  #block = NOTHING;
  #length = 0;

  /** Blocks come from the first pool whose blocks are large enough; what is larger than all of them is made for the purpose. */
  constructor(private readonly pools: readonly BlockPool[]) {}

  /** Bytes that were added since the last {@link sendTo}. */
  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length); // may change the block
    this.#block.set(bytes, at);
  }

  addLatin1(text: string): void {
    const at = this.#reserve(text.length);
    this.#block.write(text, at, 'latin1');
  }

  addFrameHeader(length: number, type: number, flags: number, streamId: number): void {
    const at = this.#reserve(HEADER_BYTES);
    writeFrameHeader(this.#block, at, length, type, flags, streamId);
  }

  /** Writes all that was added. */
  sendTo(socket: Writable): void {
    const block = this.#block;
    const bytes = block.subarray(0, this.#length);
    this.#length = 0;
    // Many small pieces that wait for a slow reader would each hold a block.
    if (socket.writableLength > 0 && 2 * bytes.length < block.length) {
      socket.write(Buffer.from(bytes));
      return;
    }
    this.#block = NOTHING;
    // After an error the socket may still be reading it.
    socket.write(bytes, (error) => {
      if (!error) this.#release(block);
    });
  }

  /** Forgets what was added. */
  clear(): void {
    this.#length = 0;
  }

  /** Returns where so many bytes may be written. */
  #reserve(length: number): number {
    const at = this.#length;
    if (at + length > this.#block.length) this.#grow(at + length);
    this.#length = at + length;
    return at;
  }

  #grow(length: number): void {
    const pool = this.pools.find(({ blockBytes }) => length <= blockBytes);
    const block = pool === undefined ? Buffer.allocUnsafeSlow(2 * length) : pool.acquire();
    block.set(this.#block.subarray(0, this.#length));
    this.#release(this.#block);
    this.#block = block;
  }

  #release(block: Buffer): void {
    this.pools.find(({ blockBytes }) => block.length === blockBytes)?.release(block);
  }
}
