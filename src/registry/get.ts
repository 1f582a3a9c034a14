import { tooLargeResourceVersion } from '../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import type { CacheEntry } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import { newestEntry, snapshotNotOlderThan } from './freshness';
import { keyOfNamed, objectNotFound, type Resource } from './resource';
import { parseResourceVersion } from './resource-version';
import { signalOf, type Caller, type GetOptions, type Scope } from './types';

/** Spec, "Resource version semantics", Get: unset is the newest state, 0 any, another not older than it. */
export function getEntry(
  resource: Resource,
  scope: Scope,
  name: string,
  { resourceVersion }: GetOptions,
  caller: Caller,
): MaybePromise<CacheEntry> {
  const key = keyOfNamed(resource, scope, name);
  return whenKnown(find(resource, key, resourceVersion, caller), (entry) => {
    if (entry === undefined) throw resource.cached.problemOf(key) ?? objectNotFound(resource, name);
    return entry;
  });
}

function find(
  resource: Resource,
  key: string,
  resourceVersion: string | undefined,
  caller: Caller,
): MaybePromise<CacheEntry | undefined> {
  const wanted = parseResourceVersion(resourceVersion);
  if (wanted === 'unset') return newestEntry(resource, key, caller);
  if (!resource.definition.watchCache) return findUncached(resource, key, wanted, String(resourceVersion), caller);
  if (wanted === 'any') return resource.cached.get(key);
  return snapshotNotOlderThan(resource, key, wanted, String(resourceVersion), caller).then((snapshot) =>
    snapshot.get(key),
  );
}

/** Kinds that kube-apiserver keeps no watch cache for: any version is the newest. */
async function findUncached(
  resource: Resource,
  key: string,
  wanted: 'any' | Revision,
  text: string,
  caller: Caller,
): Promise<CacheEntry | undefined> {
  const current = await resource.cache.currentRevision(signalOf(caller));
  if (wanted !== 'any' && wanted > current) throw tooLargeResourceVersion(text, String(current), false);
  return newestEntry(resource, key, caller);
}
