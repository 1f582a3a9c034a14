/**
 * Which numbers of 0 to `size - 1` are taken. Written as kube-apiserver writes it (facts: etcd keys, "ranges"): the bits
 * of one big-endian whole number, bit 0 last, without leading zero bytes.
 */
export class Bitmap {
  readonly size: number;
  /** Bit i of the map is bit `i % 8` of byte `i / 8`. */
  readonly #bytes: Uint8Array;
  #count: number;

  constructor(size: number, bytes = new Uint8Array(Math.ceil(size / 8)), count = countBits(bytes)) {
    this.size = size;
    this.#bytes = bytes;
    this.#count = count;
  }

  /** Bits beyond the size are dropped: the range has been made smaller. */
  static fromBigEndian(size: number, data: Uint8Array): Bitmap {
    const bytes = new Uint8Array(Math.ceil(size / 8));
    bytes.set(Uint8Array.from(data).reverse().subarray(0, bytes.length));
    const bitmap = new Bitmap(size, bytes);
    for (let index = size; index < bytes.length * 8; index++) bitmap.clear(index);
    return bitmap;
  }

  toBigEndian(): Buffer {
    const bytes = Buffer.from(this.#bytes).reverse();
    const first = bytes.findIndex((byte) => byte !== 0);
    return first < 0 ? Buffer.alloc(0) : bytes.subarray(first);
  }

  copy(): Bitmap {
    return new Bitmap(this.size, Uint8Array.from(this.#bytes), this.#count);
  }

  /** How many are taken. */
  get count(): number {
    return this.#count;
  }

  has(index: number): boolean {
    return ((this.#bytes[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
  }

  set(index: number): void {
    if (this.has(index)) return;
    this.#bytes[index >> 3] = (this.#bytes[index >> 3] ?? 0) | (1 << (index & 7));
    this.#count++;
  }

  clear(index: number): void {
    if (!this.has(index)) return;
    this.#bytes[index >> 3] = (this.#bytes[index >> 3] ?? 0) & ~(1 << (index & 7));
    this.#count--;
  }

  /** The first free number from `start` on, going round; undefined when all are taken. */
  nextFree(start: number): number | undefined {
    if (this.#count >= this.size) return undefined;
    for (let offset = 0; offset < this.size; offset++) {
      const index = (start + offset) % this.size;
      if (!this.has(index)) return index;
    }
    return undefined;
  }
}

function countBits(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) for (let rest = byte; rest !== 0; rest &= rest - 1) count++;
  return count;
}
