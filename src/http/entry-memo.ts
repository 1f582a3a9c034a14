import type { CacheEntry } from '../storage/cache/cache';

/**
 * Remembers what was made of the entries that were used last, so that many watchers share one serialization, without
 * keeping a second form of everything that is stored.
 */
export class EntryMemo<Value> {
  private readonly values = new WeakMap<CacheEntry, Value>();
  private readonly ring: (WeakRef<CacheEntry> | undefined)[];
  private next = 0;

  constructor(size: number) {
    this.ring = new Array<WeakRef<CacheEntry> | undefined>(size).fill(undefined);
  }

  /** `make` runs once for an entry, until `size` others have come after it. */
  get(entry: CacheEntry, make: (entry: CacheEntry) => Value): Value {
    const known = this.values.get(entry);
    if (known !== undefined) return known;
    const value = make(entry);
    const oldest = this.ring[this.next]?.deref();
    if (oldest !== undefined) this.values.delete(oldest);
    this.ring[this.next] = new WeakRef(entry);
    this.next = (this.next + 1) % this.ring.length;
    this.values.set(entry, value);
    return value;
  }
}
