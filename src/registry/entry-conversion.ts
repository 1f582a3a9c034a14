import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { CacheEntry } from '../storage/cache/cache';

/**
 * For resources whose versions somebody else converts: the registry works in one of them, and this is what brings entries into it, and
 * objects into the version that is stored. Both reject with a StatusError.
 */
export interface EntryConversion {
  /** In the order of the entries. `shared`: what was converted before, for whomever, may be given again. */
  readonly read: (entries: readonly CacheEntry[], shared: boolean) => MaybePromise<readonly CacheEntry[]>;
  readonly toStorage: (object: KubeObject) => MaybePromise<KubeObject>;
}
