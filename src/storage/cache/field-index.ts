import { Turn } from '../../async/turn';
import type { CacheEntry, FieldInterest } from './cache';

type Entries = Map<string, CacheEntry>;

/** The entries of a resource by the value of a field: for fields of which one value is asked for at a time. */
class FieldIndex {
  private readonly byValue = new Map<string, Entries>();

  constructor(private readonly field: Pick<FieldInterest, 'label' | 'read'>) {}

  get(value: string): Entries | undefined {
    return this.byValue.get(value);
  }

  change(previous: CacheEntry | undefined, entry: CacheEntry | undefined): void {
    if (previous !== undefined) this.remove(previous);
    if (entry !== undefined) this.add(entry);
  }

  add(entry: CacheEntry): void {
    const value = this.valueOf(entry);
    const entries = this.byValue.get(value);
    if (entries === undefined) this.byValue.set(value, new Map([[entry.key, entry]]));
    else entries.set(entry.key, entry);
  }

  private remove(entry: CacheEntry): void {
    const value = this.valueOf(entry);
    const entries = this.byValue.get(value);
    entries?.delete(entry.key);
    if (entries?.size === 0) this.byValue.delete(value);
  }

  private valueOf(entry: CacheEntry): string {
    return entry.field(this.field.label, this.field.read);
  }
}

/** Of a value that more entries have (of pods on no node, say) looking through all of them costs as little as sorting. */
const MOST_SORTED = 2_000;

/** The indexes of a resource's newest state. Each is made when its field is first asked for. */
export class FieldIndexes {
  private readonly indexes = new Map<string, FieldIndex>();
  /** Those that do not have all entries yet. */
  private readonly making = new Map<string, FieldIndex>();
  private isClosed = false;

  constructor(
    /** The newest state, as it is now. */
    private readonly entries: () => Iterable<CacheEntry>,
    /** The entry is still what its key has. */
    private readonly isNewest: (entry: CacheEntry) => boolean,
  ) {}

  /** In key order; undefined while there is no index of this field yet, and where it is of no use. */
  find({ label, read, value }: FieldInterest): readonly CacheEntry[] | undefined {
    const index = this.indexes.get(label);
    if (index === undefined) {
      // A read that looks through the entries instead hears of what is wrong with them.
      if (!this.making.has(label)) this.make({ label, read }).catch(() => undefined);
      return undefined;
    }
    const found = index.get(value);
    if (found === undefined) return [];
    if (found.size > MOST_SORTED) return undefined;
    return [...found.values()].sort((left, right) => (left.key < right.key ? -1 : 1));
  }

  /** An entry has taken the place of another; either may be missing. */
  change(previous: CacheEntry | undefined, entry: CacheEntry | undefined): void {
    for (const index of this.indexes.values()) index.change(previous, entry);
    for (const index of this.making.values()) index.change(previous, entry);
  }

  /** Everything is another: indexes are made anew when they are asked for. */
  clear(): void {
    this.indexes.clear();
    this.making.clear();
  }

  close(): void {
    this.isClosed = true;
    this.clear();
  }

  private async make(field: Pick<FieldInterest, 'label' | 'read'>): Promise<void> {
    const { label } = field;
    const index = new FieldIndex(field);
    this.making.set(label, index);
    try {
      const turn = new Turn('indexing a field');
      for (const entry of this.entries()) {
        // What was written meanwhile is in the index already.
        if (this.isNewest(entry)) index.add(entry);
        if (turn.isOver) await turn.next();
        if (this.isClosed || this.making.get(label) !== index) return;
      }
      this.indexes.set(label, index);
    } finally {
      if (this.making.get(label) === index) this.making.delete(label);
    }
  }
}
