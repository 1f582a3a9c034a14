import { setTimeout as delay } from 'node:timers/promises';
import type { RbacAuthorizer, RbacKind } from '../authz/rbac';
import type { Logger } from '../observability/logger';
import type { CacheEntry, ResourceCache } from '../storage/cache/cache';

const RBAC_RESOURCES: readonly (readonly [string, RbacKind])[] = [
  ['clusterroles', 'ClusterRole'],
  ['clusterrolebindings', 'ClusterRoleBinding'],
  ['roles', 'Role'],
  ['rolebindings', 'RoleBinding'],
];
const RETRY_MS = 100;

/** Brings the index to what the cache has now, then follows the changes until the watch ends. */
async function follow(
  resource: ResourceCache,
  kind: RbacKind,
  authorizer: RbacAuthorizer,
  known: Map<string, CacheEntry>,
  keyRoot: string,
  signal: AbortSignal,
): Promise<void> {
  const snapshot = resource.snapshot();
  for (const [key, entry] of known) {
    if (snapshot.get(key) !== undefined) continue;
    authorizer.delete(kind, entry.object);
    known.delete(key);
  }
  for (const entry of snapshot.entries(`${keyRoot}${resource.storagePrefix}/`)) {
    authorizer.put(kind, entry.object);
    known.set(entry.key, entry);
  }
  for await (const { events } of resource.watch(snapshot.revision, signal)) {
    for (const { type, entry } of events) {
      if (type === 'put') {
        authorizer.put(kind, entry.object);
        known.set(entry.key, entry);
      } else {
        authorizer.delete(kind, entry.object);
        known.delete(entry.key);
      }
    }
  }
}

/**
 * Keeps an authorizer's index as the cache has the roles and bindings. What is in the cache now is in the index when
 * this returns. `close` waits for the last event.
 */
export function feedRbac(
  authorizer: RbacAuthorizer,
  resourceCache: (resource: string) => ResourceCache,
  keyRoot: string,
  logger: Logger,
): { close(): Promise<void> } {
  const stop = new AbortController();
  const { signal } = stop;
  const loops = RBAC_RESOURCES.map(async ([resource, kind]) => {
    const known = new Map<string, CacheEntry>();
    while (!signal.aborted) {
      try {
        await follow(resourceCache(resource), kind, authorizer, known, keyRoot, signal);
      } catch (error) {
        logger.warn({ err: error, resource }, 'following roles and bindings was interrupted');
        await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  });
  return {
    close: async () => {
      stop.abort();
      await Promise.all(loops);
    },
  };
}
