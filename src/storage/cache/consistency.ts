import type { Revision, Store } from '../store';
import type { ResourceCache } from './cache';

/** A key whose revision in memory is not the store's; undefined where it does not exist. */
export interface Inconsistency {
  readonly key: string;
  readonly cached: Revision | undefined;
  readonly stored: Revision | undefined;
}

/**
 * Compares a resource's newest state in memory with the store's at the same revision. Empty when they agree; undefined
 * when the store cannot tell, because that revision is compacted.
 *
 * @param keyPrefix the resource's, with the root: `/registry/pods/`
 */
export async function findInconsistencies(
  store: Store,
  resource: Pick<ResourceCache, 'snapshot'>,
  keyPrefix: string,
  signal?: AbortSignal,
): Promise<readonly Inconsistency[] | undefined> {
  const snapshot = resource.snapshot();
  const listed = await store.list({ prefix: keyPrefix, revision: snapshot.revision }, signal);
  if (!listed.ok) return undefined;
  const different: Inconsistency[] = [];
  const stored = new Map(listed.items.map((item) => [item.key, item.revision]));
  for (const { key, revision } of snapshot.entries(keyPrefix)) {
    if (stored.get(key) !== revision) different.push({ key, cached: revision, stored: stored.get(key) });
    stored.delete(key);
  }
  for (const [key, revision] of stored) different.push({ key, cached: undefined, stored: revision });
  return different;
}
