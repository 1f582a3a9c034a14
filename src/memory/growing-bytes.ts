const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Bytes that come in pieces of any size. A single piece that is all, or most of the memory that it is part of, is kept as it is;
 * others are copied, so that what is kept does not depend on how they were cut, nor on the larger memory that they are parts of.
 */
export class GrowingBytes {
  #bytes = NOTHING;
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
      this.#bytes = isWhole ? piece : Buffer.from(piece);
    } else {
      if (length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(piece, this.#length);
    }
    this.#length = length;
  }

  /** All of them; nothing is kept. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = NOTHING;
    this.#length = 0;
    return taken;
  }

  #grow(length: number): void {
    const most = length <= this.expected ? this.expected : Infinity;
    const bytes = Buffer.allocUnsafeSlow(Math.min(2 * length, most));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
  }
}
