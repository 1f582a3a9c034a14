const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Bytes that come in pieces of any size. A single piece that is all, or most of the memory that it is part of, is kept as it is;
 * others are copied into blocks, each as large as all before it, so that what is kept does not depend on how they were cut, nor on
 * the larger memory that they are parts of. Nothing is moved until all are taken.
 */
export class GrowingBytes {
  /** Those that are full. */
  #blocks: Buffer[] | undefined;
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
    this.#blocks = undefined;
    this.#last = NOTHING;
    this.#used = 0;
    this.#length = 0;
    return taken;
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
    this.#last = Buffer.allocUnsafeSlow(Math.min(Math.max(before, rest.length), most));
    rest.copy(this.#last);
    this.#used = rest.length;
  }
}
