import { tooLargeResourceVersion } from '../api/errors/status-error';
import type { CacheEntry } from '../storage/cache/cache';
import { newestEntry, snapshotNotOlderThan } from './freshness';
import { keyOfNamed, objectNotFound, type Resource } from './resource';
import { parseResourceVersion } from './resource-version';
import type { GetOptions, Scope } from './types';

/** Spec, "Resource version semantics", Get: unset is the newest state, 0 any, another not older than it. */
export async function getEntry(
  resource: Resource,
  scope: Scope,
  name: string,
  { resourceVersion }: GetOptions,
  signal: AbortSignal,
): Promise<CacheEntry> {
  const key = keyOfNamed(resource, scope, name);
  const entry = await find(resource, key, resourceVersion, signal);
  if (entry === undefined) throw objectNotFound(resource, name);
  return entry;
}

async function find(
  resource: Resource,
  key: string,
  resourceVersion: string | undefined,
  signal: AbortSignal,
): Promise<CacheEntry | undefined> {
  const wanted = parseResourceVersion(resourceVersion);
  if (wanted === 'unset') return newestEntry(resource, key, signal);
  if (!resource.definition.watchCache) {
    const current = await resource.cache.currentRevision(signal);
    if (wanted !== 'any' && wanted > current) {
      throw tooLargeResourceVersion(String(resourceVersion), String(current), false);
    }
    return newestEntry(resource, key, signal);
  }
  if (wanted === 'any') return resource.cached.snapshot().get(key);
  const snapshot = await snapshotNotOlderThan(resource, key, wanted, String(resourceVersion), signal);
  return snapshot.get(key);
}
