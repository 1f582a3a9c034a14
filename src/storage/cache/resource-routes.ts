import type { CachedResource } from './cached-resource';

/** Finds the resource that a key belongs to, by the segments at its beginning. */
export class ResourceRoutes {
  private readonly byPrefix = new Map<string, CachedResource>();
  /** Segments of the longest prefix that was ever registered. */
  private depth = 0;

  /** `root`: what all keys begin with, `/registry/`. */
  constructor(private readonly root: string) {}

  /** `/registry/services/specs/` for `services/specs`, with or without slashes around it. */
  keyPrefixOf(storagePrefix: string): string {
    return `${this.root}${storagePrefix.replace(/^\/+|\/+$/g, '')}/`;
  }

  get(storagePrefix: string): CachedResource | undefined {
    return this.byPrefix.get(this.keyPrefixOf(storagePrefix));
  }

  all(): Iterable<CachedResource> {
    return this.byPrefix.values();
  }

  /** Throws when one prefix would contain another: a key would have two owners. */
  add(resource: CachedResource): void {
    const { keyPrefix } = resource;
    for (const other of this.byPrefix.keys()) {
      if (other.startsWith(keyPrefix) || keyPrefix.startsWith(other)) {
        throw new Error(`storage prefix ${keyPrefix} overlaps with ${other}`);
      }
    }
    this.byPrefix.set(keyPrefix, resource);
    this.depth = Math.max(this.depth, keyPrefix.slice(this.root.length).split('/').length - 1);
  }

  remove(resource: CachedResource): void {
    this.byPrefix.delete(resource.keyPrefix);
  }

  find(key: string): CachedResource | undefined {
    let end = this.root.length;
    for (let depth = 0; depth < this.depth; depth++) {
      end = key.indexOf('/', end) + 1;
      if (end === 0) return undefined;
      const resource = this.byPrefix.get(key.slice(0, end));
      if (resource !== undefined) return resource;
    }
    return undefined;
  }
}
