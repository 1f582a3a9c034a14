import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { CacheEntry } from '../storage/cache/cache';

/**
 * Whether what was converted before may be given again. `asked`: no, as kube-apiserver converts what it reads from the store. `trusted`:
 * unless the webhook has been found to answer otherwise since. `remembered`: yes, as kube-apiserver does from its watch cache.
 */
export type ConversionMode = 'asked' | 'trusted' | 'remembered';

/**
 * For resources whose versions a webhook converts: the registry works in one of them, and this is what brings entries into it, and
 * objects into the version that is stored. Both reject with a StatusError.
 */
export interface EntryConversion {
  /** In the order of the entries. */
  readonly read: (entries: readonly CacheEntry[], mode: ConversionMode) => MaybePromise<readonly CacheEntry[]>;
  readonly toStorage: (object: KubeObject) => MaybePromise<KubeObject>;
}
