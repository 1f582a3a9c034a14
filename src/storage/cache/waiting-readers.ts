import type { CompactedError } from '../store';
import type { CacheEvent, FieldInterest, WatchInterest } from './cache';

/** A watch that reads the log to its end, and is told when there is more. */
export interface WaitingReader {
  /** It need not be told of events outside of this; absent: it wants all. */
  readonly interest?: WatchInterest | undefined;
  /** There is more in the log than the reader has taken. */
  deliver(): void;
  /** There will be no more batches: because of the gap, or because the resource is closed. */
  finish(gap: CompactedError | undefined): void;
}

type Readers = Set<WaitingReader>;

interface FieldReaders {
  readonly label: string;
  readonly read: FieldInterest['read'];
  readonly byValue: Map<string, Readers>;
}

/**
 * The readers of a resource by what they want to hear of, so that a write wakes only those that may have to tell their
 * clients: most watches of a cluster are a kubelet's, of one ConfigMap, of one Secret, or of the pods of one node.
 */
export class WaitingReaders {
  private readonly ofAll: Readers = new Set();
  /** By key, and by namespace as the beginning of its keys. */
  private readonly byKey = new Map<string, Readers>();
  private readonly byField = new Map<string, FieldReaders>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(reader: WaitingReader): void {
    const { interest } = reader;
    this.count++;
    if (interest === undefined) this.ofAll.add(reader);
    else if (interest.by === 'field') addTo(this.fieldReaders(interest).byValue, interest.value, reader);
    else addTo(this.byKey, interest.key, reader);
  }

  /** One that has been added. */
  delete(reader: WaitingReader): void {
    const { interest } = reader;
    this.count--;
    if (interest === undefined) this.ofAll.delete(reader);
    else if (interest.by === 'key') deleteFrom(this.byKey, interest.key, reader);
    else {
      const { byValue } = this.fieldReaders(interest);
      deleteFrom(byValue, interest.value, reader);
      if (byValue.size === 0) this.byField.delete(interest.label);
    }
  }

  /** The readers that may want one of these events; others may be among them. */
  concernedBy(batches: readonly { readonly events: readonly CacheEvent[] }[]): readonly WaitingReader[] {
    if (this.ofAll.size === this.count) return [...this.ofAll];
    const concerned = new Set(this.ofAll);
    const take = (readers: Readers | undefined): void => readers?.forEach((reader) => concerned.add(reader));
    for (const { events } of batches) {
      for (const { entry, previous } of events) {
        const { key } = entry;
        take(this.byKey.get(key));
        take(this.byKey.get(key.slice(0, key.lastIndexOf('/') + 1)));
        for (const { label, read, byValue } of this.byField.values()) {
          take(byValue.get(entry.field(label, read)));
          if (previous !== undefined) take(byValue.get(previous.field(label, read)));
        }
      }
    }
    return [...concerned];
  }

  /** How many may want to hear of a write of the object with this key, those by the value of a field not counted. */
  countOf(key: string): number {
    if (this.ofAll.size === this.count) return this.count;
    const ofNamespace = this.byKey.get(key.slice(0, key.lastIndexOf('/') + 1))?.size ?? 0;
    return this.ofAll.size + ofNamespace + (this.byKey.get(key)?.size ?? 0);
  }

  all(): readonly WaitingReader[] {
    const all = [...this.ofAll];
    for (const readers of this.byKey.values()) all.push(...readers);
    for (const { byValue } of this.byField.values()) for (const readers of byValue.values()) all.push(...readers);
    return all;
  }

  private fieldReaders({ label, read }: FieldInterest): FieldReaders {
    let readers = this.byField.get(label);
    if (readers === undefined) this.byField.set(label, (readers = { label, read, byValue: new Map() }));
    return readers;
  }
}

function addTo<Key>(map: Map<Key, Readers>, key: Key, reader: WaitingReader): void {
  const readers = map.get(key);
  if (readers === undefined) map.set(key, new Set([reader]));
  else readers.add(reader);
}

function deleteFrom<Key>(map: Map<Key, Readers>, key: Key, reader: WaitingReader): void {
  const readers = map.get(key);
  readers?.delete(reader);
  if (readers?.size === 0) map.delete(key);
}
