import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { runSteps, type Steps } from '../async/steps';
import type { CacheEntry, RegistryCache, ResourceCache } from '../storage/cache/cache';
import type { Revision, Store } from '../storage/store';

/** For the log, when it holds the loop. */
const WORK = 'a large object that a decision needs';
/** Small objects that are parsed at once. */
const FEW = 64;

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
    for (const { object } of this.#entries(storagePrefix, namespace)) yield object;
  }

  /** The same for objects of which there may be many: each is parsed when it is asked for, a large one a part at a time. */
  *each(storagePrefix: string, namespace?: string): Iterable<MaybePromise<KubeObject>> {
    for (const entry of this.#entries(storagePrefix, namespace)) yield objectOf(entry);
  }

  /** As {@link list}, for objects that users may make large, or many: these are parsed a part at a time. */
  listInTurns(storagePrefix: string, namespace: string): MaybePromise<readonly KubeObject[]> {
    const entries = [...this.#entries(storagePrefix, namespace)];
    const isMuch = entries.length > FEW || entries.some((entry) => entry.prepare() !== undefined);
    return isMuch ? runSteps(objectsOf(entries), WORK) : entries.map(({ object }) => object);
  }

  /** Whether there are any; throws as {@link list} does. */
  hasAny(storagePrefix: string, namespace: string): boolean {
    for (const _ of this.#entries(storagePrefix, namespace)) return true;
    return false;
  }

  /** Another number whenever something of the resource has changed in memory. */
  changed(storagePrefix: string): Revision {
    return this.#resource(storagePrefix).changed;
  }

  /** Looks at the store itself when memory has nothing: another replica may have created it just now. */
  getLive(storagePrefix: string, ...path: readonly string[]): MaybePromise<KubeObject | undefined> {
    const entry = this.#entry(storagePrefix, path);
    return entry === undefined ? this.#getStored(storagePrefix, path) : objectOf(entry);
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
    return stored && objectOf(this.#cache.toEntry(storagePrefix, stored));
  }

  #entries(storagePrefix: string, namespace: string | undefined): Iterable<CacheEntry> {
    const resource = this.#resource(storagePrefix);
    const prefix = `${this.#keyRoot}${storagePrefix}/${namespace === undefined ? '' : `${namespace}/`}`;
    const problem = resource.problemIn(prefix);
    if (problem !== undefined) throw problem;
    return resource.snapshot().entries(prefix);
  }

  #entry(storagePrefix: string, path: readonly string[]): CacheEntry | undefined {
    return this.#resource(storagePrefix).get(`${this.#keyRoot}${storagePrefix}/${path.join('/')}`);
  }
}

/** A large one is parsed a part at a time. */
function objectOf(entry: CacheEntry): MaybePromise<KubeObject> {
  const parsing = entry.prepare();
  return parsing === undefined ? entry.object : runSteps(parsing, WORK).then(() => entry.object);
}

function* objectsOf(entries: readonly CacheEntry[]): Steps<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const entry of entries) {
    const parsing = entry.prepare();
    if (parsing !== undefined) yield* parsing;
    objects.push(entry.object);
    yield;
  }
  return objects;
}
