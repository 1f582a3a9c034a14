import type { StoredResource } from './metrics';

/** What is stored under a prefix: `services/specs`, `pods`, `example.io/widgets`. */
export interface StoredUnder extends StoredResource {
  readonly storagePrefix: string;
}

/** Finds whose a key is by the one or two segments at its beginning; `root` is `/registry/`. */
export class StoredResources {
  readonly #byPrefix = new Map<string, StoredResource>();

  constructor(
    private readonly root: string,
    builtIn: Iterable<StoredUnder>,
  ) {
    for (const { storagePrefix, group, resource } of builtIn) this.#byPrefix.set(storagePrefix, { group, resource });
  }

  /** What is stored under a prefix, that of a custom resource included. */
  under(storagePrefix: string): StoredResource {
    return this.of(`${this.root}${storagePrefix}/`) ?? { group: '', resource: storagePrefix };
  }

  /** A key outside of the root is of no resource; one of a custom resource has its group and its plural in it. */
  readonly of = (key: string): StoredResource | undefined => {
    const start = this.root.length;
    if (!key.startsWith(this.root)) return undefined;
    const first = key.indexOf('/', start);
    if (first < 0) return undefined;
    const known = this.#byPrefix.get(key.slice(start, first));
    if (known !== undefined) return known;
    const second = key.indexOf('/', first + 1);
    if (second < 0) return undefined;
    const prefix = key.slice(start, second);
    const builtIn = this.#byPrefix.get(prefix);
    if (builtIn !== undefined) return builtIn;
    const group = key.slice(start, first);
    return group.includes('.') ? { group, resource: prefix.slice(group.length + 1) } : undefined;
  };
}
