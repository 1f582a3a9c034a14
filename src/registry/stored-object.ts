import { apiVersionOf, type KubeObject } from '../api/object';
import type { KindDefinition } from '../api/kinds/kind-definition';
import type { CacheEntry } from '../storage/cache/cache';
import type { Revision, WriteOptions } from '../storage/store';
import type { Resource } from './resource';

/**
 * The bytes under an object's key, in the version that is written: JSON that begins with kind, apiVersion and metadata, in this order, so that the cache
 * can cut the head off and put the revision in without parsing. Neither resourceVersion, which is the key's revision,
 * nor selfLink is stored.
 */
export function storageEncoder({ kind, storage, written }: KindDefinition): (object: KubeObject) => Buffer {
  const { group, version } = written ?? storage;
  const apiVersion = apiVersionOf(group, version);
  return (object) => {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = written?.fromMemory(object) ?? object;
    const { resourceVersion: _resourceVersion, selfLink: _selfLink, ...stored } = metadata;
    return Buffer.from(JSON.stringify({ kind, apiVersion, metadata: stored, ...rest }));
  };
}

/** The entry of what has just been written; memory hears of it a little later. */
export function storedEntry(resource: Resource, key: string, value: Buffer, revision: Revision): CacheEntry {
  return resource.cache.toEntry(resource.definition.storagePrefix, { key, value, revision });
}

export function writeOptions({ definition: { ttlSeconds } }: Resource): WriteOptions {
  return ttlSeconds === undefined ? {} : { ttlSeconds };
}
