import { HEADER_BYTES, writeFrameHeader } from './frames';

/** What one turn of the event loop writes at a busy time, several times over. */
const BLOCK_BYTES = 64 * 1024;
/** A block that had to be larger is not kept for long. */
const MAX_KEPT_BYTES = 1024 * 1024;

/**
 * Gathers what is to be sent next. It is copied, so that whoever wrote it may use its memory again; and the block that it is
 * copied to is used again too, because memory for every frame and every packet would be most of what sending costs.
 */
export class Outbox {
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #start = 0;
  #end = 0;

  get isEmpty(): boolean {
    return this.#start === this.#end;
  }

  add(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length); // may change the block
    this.#block.set(bytes, at);
  }

  addFrameHeader(length: number, type: number, flags: number, streamId: number): void {
    const at = this.#reserve(HEADER_BYTES);
    writeFrameHeader(this.#block, at, length, type, flags, streamId);
  }

  /** All that was added since the last time. Stays as it is until {@link reuse}. */
  take(): Buffer {
    const taken = this.#block.subarray(this.#start, this.#end);
    this.#start = this.#end;
    return taken;
  }

  /** What was taken has been read. */
  reuse(): void {
    if (!this.isEmpty) return;
    this.#start = this.#end = 0;
    if (this.#block.length > MAX_KEPT_BYTES) this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Returns where so many bytes may be written. */
  #reserve(length: number): number {
    const at = this.#end;
    if (at + length > this.#block.length) return this.#reserveElsewhere(length);
    this.#end = at + length;
    return at;
  }

  /** The block that is left belongs to what was taken of it. */
  #reserveElsewhere(length: number): number {
    const waiting = this.take();
    this.#block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, 2 * (waiting.length + length)));
    this.#start = 0;
    this.#end = waiting.length + length;
    this.#block.set(waiting);
    return waiting.length;
  }
}
