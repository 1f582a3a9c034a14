import type { CacheEntry } from '../storage/cache/cache';

/** What is kept at most; whichever is reached first. */
export interface MemoLimits<Value> {
  readonly entries: number;
  readonly bytes: number;
  /** How many bytes a value takes. */
  readonly sizeOf: (value: Value) => number;
}

interface Kept {
  readonly entry: WeakRef<CacheEntry>;
  readonly bytes: number;
}

/**
 * Remembers what was made of the entries that were used last, so that many watchers share one serialization, without
 * keeping a second form of everything that is stored. What has to go when the limits are reached is chosen at random: a
 * list that is longer than the memory then still finds most of itself the next time, where forgetting the oldest would
 * forget each entry just before it is asked for.
 */
export class EntryMemo<Value> {
  private readonly values = new WeakMap<CacheEntry, Value>();
  private readonly kept: Kept[] = [];
  private bytes = 0;

  constructor(private readonly limits: MemoLimits<Value>) {}

  /** `make` runs once for an entry, until it is forgotten. */
  get(entry: CacheEntry, make: (entry: CacheEntry) => Value): Value {
    const known = this.values.get(entry);
    if (known !== undefined) return known;
    const value = make(entry);
    const bytes = this.limits.sizeOf(value);
    while (
      this.kept.length > 0 &&
      (this.kept.length >= this.limits.entries || this.bytes + bytes > this.limits.bytes)
    ) {
      this.forgetOne();
    }
    this.kept.push({ entry: new WeakRef(entry), bytes });
    this.bytes += bytes;
    this.values.set(entry, value);
    return value;
  }

  private forgetOne(): void {
    const index = Math.floor(Math.random() * this.kept.length);
    const { entry, bytes } = this.kept[index]!;
    const last = this.kept.pop()!;
    if (index < this.kept.length) this.kept[index] = last;
    this.bytes -= bytes;
    const gone = entry.deref();
    if (gone !== undefined) this.values.delete(gone);
  }
}
