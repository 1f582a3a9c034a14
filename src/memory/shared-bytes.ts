import type { MemoryHolder } from './memory-budget';

/** Bytes that are there once, however many wait for them: the first of these holds them, and when it leaves, the next one. */
export class SharedBytes {
  readonly #waiting = new Set<MemoryHolder>();

  constructor(private readonly length: number) {}

  join(holder: MemoryHolder): void {
    this.#waiting.add(holder);
    if (this.#waiting.size === 1) holder.hold(this.length);
  }

  leave(holder: MemoryHolder): void {
    const isHolding = this.#first() === holder;
    if (!this.#waiting.delete(holder) || !isHolding) return;
    holder.release(this.length);
    this.#first()?.hold(this.length);
  }

  #first(): MemoryHolder | undefined {
    return this.#waiting.values().next().value;
  }
}

const known = new WeakMap<Uint8Array, SharedBytes>();

/**
 * Those of a Buffer that many answers are made of. It may lie in memory anyway when the first answer waits, but answers that wait
 * may be what keeps it there.
 */
export function sharedBytesOf(bytes: Uint8Array): SharedBytes {
  let shared = known.get(bytes);
  if (shared === undefined) known.set(bytes, (shared = new SharedBytes(bytes.length)));
  return shared;
}
