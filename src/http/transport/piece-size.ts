/** Of what comes first, how much is looked at before others have their turn: a few bytes may be a request, or stand for many long headers. */
const FIRST_BYTES = 512;
const LARGEST_OF_STRANGERS_BYTES = 4_096;
/** As much as a record of TLS holds. */
const LARGEST_BYTES = 16_384;
const SMALLEST_BYTES = 256;
/** A piece that took longer is followed by smaller ones. */
const LONG_MS = 2;
/** A piece that took less may be followed by larger ones. */
const SHORT_MS = 0.5;

/** How much of what a connection brings is looked at before others have their turn: more as long as it costs little. */
export class PieceSize {
  #bytes = FIRST_BYTES;
  #largestBytes = LARGEST_OF_STRANGERS_BYTES;

  get bytes(): number {
    return this.#bytes;
  }

  /** The client has proved who it is. */
  trust(): void {
    this.#largestBytes = LARGEST_BYTES;
  }

  /** A piece of so many bytes was looked at for so long. */
  learn(bytes: number, tookMs: number): void {
    if (tookMs > LONG_MS) this.#bytes = Math.max(SMALLEST_BYTES, Math.min(bytes, this.#bytes) >> 1);
    else if (tookMs < SHORT_MS) this.#bytes = Math.min(this.#largestBytes, this.#bytes << 1);
  }
}
