import { apiVersionOf, type KubeObject } from '../api/object';
import type { KindDefinition } from '../api/kinds/kind-definition';
import type { CacheEntry } from '../storage/cache/cache';
import type { Revision, StoredValue, WriteOptions } from '../storage/store';
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

/** The entry of an object that has just been written; memory hears of it a little later. */
export function writtenEntry({ cached, definition }: Resource, value: StoredValue, object: KubeObject): CacheEntry {
  return cached.written(value, asRead(definition, object, value.revision));
}

/** What parsing the stored bytes would give; undefined where that takes more than to look. */
export function asRead(
  { kind, storage, written }: KindDefinition,
  object: KubeObject,
  revision: Revision,
): KubeObject | undefined {
  if (written !== undefined || !isJson(object)) return undefined;
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _resourceVersion, selfLink: _selfLink, ...kept } = metadata;
  return {
    kind,
    apiVersion: apiVersionOf(storage.group, storage.version),
    metadata: { resourceVersion: String(revision), ...kept },
    ...rest,
  };
}

/** Whether a value is as it would be if it were written as JSON and read again: nothing undefined, no other objects. */
function isJson(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const name in value) if (!isJson((value as Readonly<Record<string, unknown>>)[name])) return false;
  return true;
}

export function writeOptions({ definition: { ttlSeconds } }: Resource): WriteOptions {
  return ttlSeconds === undefined ? {} : { ttlSeconds };
}
