import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { CacheEntry, RegistryCache, ResourceCache } from '../storage/cache/cache';
import type { Revision, Store } from '../storage/store';

/** Reads of the registry for those who decide about requests: from memory, and where it must be so from the store. */
export class RegistryReader {
  readonly #cache: RegistryCache;
  readonly #store: Store;
  readonly #keyRoot: string;
  readonly #resource: (storagePrefix: string) => ResourceCache;

  constructor(cache: RegistryCache, store: Store, keyRoot: string, resource: (storagePrefix: string) => ResourceCache) {
    this.#cache = cache;
    this.#store = store;
    this.#keyRoot = keyRoot;
    this.#resource = resource;
  }

  get(storagePrefix: string, ...path: readonly string[]): KubeObject | undefined {
    return this.#entry(storagePrefix, path)?.object;
  }

  /** All objects, or those of one namespace. Throws when there are some that cannot be decrypted: one might be what forbids the request. */
  *list(storagePrefix: string, namespace?: string): Iterable<KubeObject> {
    const resource = this.#resource(storagePrefix);
    const prefix = `${this.#keyRoot}${storagePrefix}/${namespace === undefined ? '' : `${namespace}/`}`;
    const problem = resource.problemIn(prefix);
    if (problem !== undefined) throw problem;
    for (const { object } of resource.snapshot().entries(prefix)) yield object;
  }

  /** Another number whenever something of the resource has changed in memory. */
  changed(storagePrefix: string): Revision {
    return this.#resource(storagePrefix).changed;
  }

  /** Looks at the store itself when memory has nothing: another replica may have created it just now. */
  getLive(storagePrefix: string, ...path: readonly string[]): MaybePromise<KubeObject | undefined> {
    return this.get(storagePrefix, ...path) ?? this.#getStored(storagePrefix, path);
  }

  /**
   * Tells, whenever it is asked, whether memory has the object just as it was found. While nothing of its resource changes,
   * the answer costs a comparison.
   */
  follow(found: KubeObject, storagePrefix: string, ...path: readonly string[]): () => boolean {
    const resource = this.#resource(storagePrefix);
    const key = `${this.#keyRoot}${storagePrefix}/${path.join('/')}`;
    const revision = Number(found.metadata.resourceVersion);
    let lookedAt: Revision | undefined;
    return () => {
      if (lookedAt === resource.changed) return true;
      if (resource.get(key)?.revision !== revision) return false;
      lookedAt = resource.changed;
      return true;
    };
  }

  async #getStored(storagePrefix: string, path: readonly string[]): Promise<KubeObject | undefined> {
    const stored = await this.#store.get(`${this.#keyRoot}${storagePrefix}/${path.join('/')}`);
    return stored && this.#cache.toEntry(storagePrefix, stored).object;
  }

  #entry(storagePrefix: string, path: readonly string[]): CacheEntry | undefined {
    return this.#resource(storagePrefix).get(`${this.#keyRoot}${storagePrefix}/${path.join('/')}`);
  }
}
