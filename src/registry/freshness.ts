import { tooLargeResourceVersion } from '../api/errors/status-error';
import type { CacheEntry, ResourceSnapshot } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import type { Resource } from './resource';
import { readSnapshot } from './stored-snapshot';
import { signalOf, type Caller } from './types';

/** How long a client that asks for "not older than" waits for it (HTTP facts, "futureResourceVersionWait"). */
const FUTURE_VERSION_WAIT_MS = 3_000;
/** Then, how long the store has to say that the version is there all the same. */
const ASK_TIMEOUT_MS = 500;
/** When memory lags by more than this, asking the store is quicker than waiting. */
const LAG_WAIT_MS = 500;

/** Whether memory gets soon to the revision that is the store's newest at the time of the call. */
async function isNewest({ cache, cached: { activity } }: Resource, caller: Caller): Promise<boolean> {
  // The store answers soon or fails: a client that leaves meanwhile is not listened for.
  const revision = await cache.currentRevision();
  if (cache.revision >= revision) {
    activity.consistentReads++;
    return true;
  }
  const signal = signalOf(caller);
  signal.throwIfAborted();
  const isReached = await cache.waitFor(revision, LAG_WAIT_MS, signal);
  if (isReached) activity.consistentReads++;
  else activity.fallbackReads++;
  return isReached;
}

/** Memory as of the store's newest revision at the time of the call; undefined when it does not get there soon. */
export async function newestSnapshot(resource: Resource, caller: Caller): Promise<ResourceSnapshot | undefined> {
  return (await isNewest(resource, caller)) ? resource.cached.snapshot() : undefined;
}

/** The newest state of one key, linearizable. */
export async function newestEntry(resource: Resource, key: string, caller: Caller): Promise<CacheEntry | undefined> {
  if (await isNewest(resource, caller)) return entryInMemory(resource, key);
  const value = await resource.store.get(key, signalOf(caller));
  return value && resource.cache.toEntry(resource.definition.storagePrefix, value);
}

/** Throws when something that belongs to the keys is there and cannot be read: what would be said without it is that it is not there. */
export function throwIfUnreadable(
  { cached }: Resource,
  { onlyKey, prefix }: { readonly onlyKey: string | undefined; readonly prefix: string },
): void {
  const problem = onlyKey === undefined ? cached.problemIn(prefix) : cached.problemOf(onlyKey);
  if (problem !== undefined) throw problem;
}

/** Throws what stands in the way when something is there and cannot be read. */
function entryInMemory({ cached }: Resource, key: string): CacheEntry | undefined {
  const entry = cached.get(key);
  const problem = entry === undefined ? cached.problemOf(key) : undefined;
  if (problem !== undefined) throw problem;
  return entry;
}

/**
 * A state of the keys that begin with `prefix` that is not older than the revision: memory once it has reached that, or
 * the store's own when it is there already and memory cannot know. That happens where progress reports cannot be trusted:
 * somebody has written what is no object of ours, so no event comes. `text` is how the client wrote the revision. Throws
 * 504 when it does not come soon.
 */
export async function snapshotNotOlderThan(
  resource: Resource,
  prefix: string,
  revision: Revision,
  text: string,
  caller: Caller,
): Promise<ResourceSnapshot> {
  const { cache, cached } = resource;
  if (cache.revision >= revision) return cached.snapshot();
  const signal = signalOf(caller);
  if (await cache.waitFor(revision, FUTURE_VERSION_WAIT_MS, signal)) return cached.snapshot();
  const newest = await newestWithin(cache, ASK_TIMEOUT_MS, signal);
  if (newest < revision) throw tooLargeResourceVersion(text, String(newest), true);
  return readSnapshot(resource, prefix, signal);
}

/** The store's newest revision; what memory has reached when the store does not answer in time. */
async function newestWithin(cache: Resource['cache'], timeoutMs: number, signal: AbortSignal): Promise<Revision> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return await cache.currentRevision(AbortSignal.any([signal, late]));
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
    return cache.revision;
  }
}

/** The newest state of the keys that begin with `prefix`, from memory if it gets there soon, else from the store. */
export async function awaitNewestSnapshot(
  resource: Resource,
  prefix: string,
  signal: AbortSignal,
): Promise<ResourceSnapshot> {
  return (await newestSnapshot(resource, signal)) ?? readSnapshot(resource, prefix, signal);
}
