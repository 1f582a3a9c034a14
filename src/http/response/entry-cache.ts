import type { CacheEntry } from '../../storage/cache/cache';

/** What is kept at most; whichever is reached first. */
export interface MemoLimits<Value> {
  readonly entries: number;
  readonly bytes: number;
  /** How many bytes a value takes. */
  readonly sizeOf: (value: Value) => number;
}

/** Knows its entry only weakly: the memo holds all slots, and entries are not to live for its sake. */
interface Slot {
  readonly entry: WeakRef<CacheEntry>;
  bytes: number;
}

/**
 * Remembers what was made of the entries that were used last, so that many watchers share one serialization, without
 * keeping a second form of everything that is stored. What has to go when the limits are reached is chosen at random: a
 * list that is longer than the memory then still finds most of itself the next time, where forgetting the oldest would
 * forget each entry just before it is asked for.
 */
export class EntryCache<Value> {
  private readonly remembered = new WeakMap<CacheEntry, { readonly value: Value; readonly slot: Slot }>();
  private readonly slots: Slot[] = [];
  private bytes = 0;

  constructor(private readonly limits: MemoLimits<Value>) {}

  /** `make` runs once for an entry, until it is forgotten. */
  get(entry: CacheEntry, make: (entry: CacheEntry) => Value): Value {
    const known = this.remembered.get(entry);
    if (known !== undefined) return known.value;
    const value = make(entry);
    this.set(entry, value);
    return value;
  }

  find(entry: CacheEntry): Value | undefined {
    return this.remembered.get(entry)?.value;
  }

  /** Takes the place of what was remembered of the entry. */
  set(entry: CacheEntry, value: Value): void {
    const slot = this.remembered.get(entry)?.slot ?? this.newSlot(entry);
    this.remembered.set(entry, { value, slot });
    const bytes = this.limits.sizeOf(value);
    this.bytes += bytes - slot.bytes;
    slot.bytes = bytes;
    while (this.slots.length > this.limits.entries || this.bytes > this.limits.bytes) this.forgetOne();
  }

  private newSlot(entry: CacheEntry): Slot {
    const slot = { entry: new WeakRef(entry), bytes: 0 };
    this.slots.push(slot);
    return slot;
  }

  private forgetOne(): void {
    const index = Math.floor(Math.random() * this.slots.length);
    const { entry, bytes } = this.slots[index]!;
    const last = this.slots.pop()!;
    if (index < this.slots.length) this.slots[index] = last;
    this.bytes -= bytes;
    const gone = entry.deref();
    if (gone !== undefined) this.remembered.delete(gone);
  }
}
