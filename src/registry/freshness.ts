import { tooLargeResourceVersion } from '../api/errors/status-error';
import type { CacheEntry, ResourceSnapshot } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import type { Resource } from './resource';

/** How long a client that asks for "not older than" waits for it (HTTP facts, "futureResourceVersionWait"). */
const FUTURE_VERSION_WAIT_MS = 3_000;
/** When memory lags by more than this, asking the store is quicker than waiting. */
const LAG_WAIT_MS = 500;

/** Memory as of the store's newest revision at the time of the call; undefined when it does not get there soon. */
export async function newestSnapshot(
  { cache, cached }: Resource,
  signal: AbortSignal,
  waitMs = LAG_WAIT_MS,
): Promise<ResourceSnapshot | undefined> {
  const revision = await cache.currentRevision(signal);
  if (cache.revision < revision && !(await cache.waitFor(revision, waitMs, signal))) return undefined;
  return cached.snapshot();
}

/** The newest state of one key, linearizable. */
export async function newestEntry(
  resource: Resource,
  key: string,
  signal: AbortSignal,
): Promise<CacheEntry | undefined> {
  const snapshot = await newestSnapshot(resource, signal);
  if (snapshot !== undefined) return snapshot.get(key);
  const value = await resource.store.get(key, signal);
  return value && resource.cache.toEntry(resource.definition.storagePrefix, value);
}

/** Memory once it has reached the revision. `text` is how the client wrote it. Throws 504 when that takes too long. */
export async function snapshotNotOlderThan(
  { cache, cached }: Resource,
  revision: Revision,
  text: string,
  signal: AbortSignal,
): Promise<ResourceSnapshot> {
  if (cache.revision < revision && !(await cache.waitFor(revision, FUTURE_VERSION_WAIT_MS, signal))) {
    throw tooLargeResourceVersion(text, String(cache.revision), true);
  }
  return cached.snapshot();
}

/** Memory as of the store's newest revision, for a reader who cannot read the store instead. Throws 504. */
export async function awaitNewestSnapshot(resource: Resource, signal: AbortSignal): Promise<ResourceSnapshot> {
  const snapshot = await newestSnapshot(resource, signal, FUTURE_VERSION_WAIT_MS);
  if (snapshot !== undefined) return snapshot;
  const reached = String(resource.cache.revision);
  throw tooLargeResourceVersion('newest', reached, true);
}
