const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Bytes that come in pieces of any size. A single piece is kept as it is; of several each is copied, so that what is kept does not
 * depend on how they were cut, nor on the larger memory that they are parts of.
 */
export class GrowingBytes {
  #bytes = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) {
      this.#bytes = piece;
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
    const bytes = Buffer.allocUnsafeSlow(2 * length);
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
  }
}
