import { cacheLimit } from '../memory/memory-limit';
import type { CacheEntry } from '../storage/cache/cache';

/** A converted object takes about so much for each byte of its JSON: it is kept parsed, and printed. */
const FACTOR = 5;
const MAX_BYTES = cacheLimit(64 * 1024 * 1024);

interface Slot {
  readonly owner: ConvertedEntries;
  readonly of: CacheEntry;
  readonly converted: CacheEntry;
  readonly epoch: number;
  readonly bytes: number;
}

/** What may be kept of all conversions together; what has been used last stays. */
export class ConversionMemory {
  readonly #slots = new Set<Slot>();
  #bytes = 0;

  constructor(private readonly maxBytes = MAX_BYTES) {}

  get bytes(): number {
    return this.#bytes;
  }

  add(slot: Slot): void {
    this.#slots.add(slot);
    this.#bytes += slot.bytes;
    for (const oldest of this.#slots) {
      if (this.#bytes <= this.maxBytes) return;
      oldest.owner.forget(oldest);
    }
  }

  used(slot: Slot): void {
    this.#slots.delete(slot);
    this.#slots.add(slot);
  }

  delete(slot: Slot): void {
    if (this.#slots.delete(slot)) this.#bytes -= slot.bytes;
  }
}

/**
 * What entries became in one version: by the entry, which is one state of one object, so that a list that is asked for twice is converted
 * once, and an event once for all who watch.
 */
export class ConvertedEntries {
  readonly #slots = new Map<CacheEntry, Slot>();

  constructor(private readonly memory: ConversionMemory) {}

  /** Nothing that is older than the epoch. */
  get(of: CacheEntry, epoch: number): CacheEntry | undefined {
    const slot = this.#slots.get(of);
    if (slot === undefined || slot.epoch < epoch) return undefined;
    this.memory.used(slot);
    return slot.converted;
  }

  set(of: CacheEntry, converted: CacheEntry, epoch: number): void {
    const before = this.#slots.get(of);
    if (before !== undefined) this.forget(before);
    const slot = { owner: this, of, converted, epoch, bytes: (of.size + converted.size) * FACTOR };
    this.#slots.set(of, slot);
    this.memory.add(slot);
  }

  forget(slot: Slot): void {
    this.#slots.delete(slot.of);
    this.memory.delete(slot);
  }

  clear(): void {
    for (const slot of this.#slots.values()) this.memory.delete(slot);
    this.#slots.clear();
  }
}
