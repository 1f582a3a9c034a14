import { expired } from '../api/errors/status-error';
import type { CacheEntry, ResourceSnapshot } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import type { Resource } from './resource';

/** A state that was read from the store itself, as far as one prefix goes. */
class StoredSnapshot implements ResourceSnapshot {
  private readonly byKey: ReadonlyMap<string, CacheEntry>;

  constructor(
    readonly revision: Revision,
    private readonly sorted: readonly CacheEntry[],
  ) {
    this.byKey = new Map(sorted.map((entry) => [entry.key, entry]));
  }

  get(key: string): CacheEntry | undefined {
    return this.byKey.get(key);
  }

  *entries(prefix: string, start = prefix): Iterable<CacheEntry> {
    for (const entry of this.sorted) if (entry.key.startsWith(prefix) && entry.key >= start) yield entry;
  }

  withField(): undefined {
    return undefined;
  }

  count(prefix: string, start?: string): number {
    return [...this.entries(prefix, start)].length;
  }
}

/** The newest state of the keys that begin with `prefix`, linearizable. */
export async function readSnapshot(
  { store, cache, definition }: Resource,
  prefix: string,
  signal: AbortSignal,
): Promise<ResourceSnapshot> {
  const outcome = await store.list({ prefix }, signal);
  // The newest state is neither compacted nor to come.
  if (!outcome.ok) throw expired('The newest state cannot be read.');
  const entries = outcome.items.map((value) => cache.toEntry(definition.storagePrefix, value));
  return new StoredSnapshot(outcome.revision, entries);
}
