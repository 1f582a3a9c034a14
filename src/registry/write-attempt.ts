import { runSteps } from '../async/steps';
import type { CacheEntry } from '../storage/cache/cache';
import { StoreFailure, type StoredValue } from '../storage/store';
import { newestEntry } from './freshness';
import { keyOfNamed, type Resource } from './resource';
import type { OperationContext, Pace, Scope } from './types';

/** Bytes of an object from which on a write gives way to others. */
const LARGE_OBJECT_BYTES = 64 * 1024;
/** For the log. */
const OWN_WRITE = "a write of the server's own";

/** What came of one try to change the object under a key. */
export type Attempt<T> =
  | { readonly kind: 'written'; readonly value: T }
  /** Nothing was written, because nothing had to be. Holds only for the newest state. */
  | { readonly kind: 'unchanged'; readonly value: T }
  /** Another writer was faster: this stands there now. */
  | { readonly kind: 'lost'; readonly current: StoredValue | undefined };

/**
 * Read, change, compare-and-put, retry. The first try works on memory, which may be behind: then either the write is
 * lost, which brings the fresh value, or its refusal is not final before the newest state has been looked at. There is
 * no limit but the request's deadline: each lost round means that another writer has got on. A write whose outcome is not
 * known is not tried again: it may have happened, and would happen twice. Throws 400 for a name that no object can have.
 */
export async function writeAgainstNewest<T>(
  resource: Resource,
  scope: Scope,
  name: string,
  { signal, pace }: OperationContext,
  attempt: (current: CacheEntry | undefined, key: string) => Promise<Attempt<T>>,
): Promise<T> {
  const key = keyOfNamed(resource, scope, name);
  let current = resource.cached.get(key);
  let isNewest = false;
  for (;;) {
    signal.throwIfAborted();
    if (current !== undefined && current.size > LARGE_OBJECT_BYTES) await openLarge(current, pace);
    let outcome: Attempt<T> | Refusal;
    try {
      const seen =
        current === undefined || resource.conversion === undefined ? current : await inVersion(resource, current);
      outcome = await attempt(seen, key);
    } catch (error) {
      if (error instanceof StoreFailure) throw error;
      outcome = { kind: 'refused', error };
    }
    if (outcome.kind === 'lost') {
      current = outcome.current && resource.cache.toEntry(resource.definition.storagePrefix, outcome.current);
      isNewest = true;
      continue;
    }
    if (outcome.kind !== 'written' && !isNewest && !signal.aborted) {
      const newest = await newestEntry(resource, key, signal);
      isNewest = true;
      if (newest?.revision !== current?.revision) {
        current = newest;
        continue;
      }
    }
    if (outcome.kind === 'refused') throw outcome.error;
    return outcome.value;
  }
}

/** As the write looks at it: in the version of the request where a webhook converts between versions. */
async function inVersion({ conversion }: Resource, entry: CacheEntry): Promise<CacheEntry> {
  const [read = entry] = (await conversion?.read([entry], 'remembered')) ?? [];
  return read;
}

/** Makes what the write looks at, a part at a time. Without a pace it is the server itself that writes. */
async function openLarge(entry: CacheEntry, pace: Pace | undefined): Promise<void> {
  await pace?.beginLarge(entry.size);
  const steps = entry.prepare();
  if (steps !== undefined) await (pace === undefined ? runSteps(steps, OWN_WRITE) : pace.takeSteps(steps));
}

interface Refusal {
  readonly kind: 'refused';
  readonly error: unknown;
}
