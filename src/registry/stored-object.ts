import { stringifyExact } from '../api/codec/exact-json';
import { withMetadata } from '../api/extend';
import { apiVersionOf, type KubeObject } from '../api/object';
import type { KindDefinition } from '../api/kinds/kind-definition';
import type { CacheEntry } from '../storage/cache/cache';
import { inCurrentForm } from '../storage/cache/stored-form';
import type { Revision, WriteOptions } from '../storage/store';
import type { Resource } from './resource';

/** An object as it is written: in the version that is stored, without what the store itself knows. */
export interface StoredObject {
  readonly object: KubeObject;
  /**
   * Its JSON begins with kind, apiVersion and metadata, in this order, so that the cache can cut the head off and put the
   * revision in without parsing.
   */
  readonly value: Buffer;
}

/** Neither resourceVersion, which is the key's revision, nor selfLink is stored. */
export function storageEncoder({ kind, storage, written }: KindDefinition): (object: KubeObject) => StoredObject {
  const { group, version } = written ?? storage;
  const apiVersion = apiVersionOf(group, version);
  return (memory) => {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = written?.fromMemory(memory) ?? memory;
    const { resourceVersion: _resourceVersion, selfLink: _selfLink, ...kept } = metadata;
    const object = { kind, apiVersion, metadata: kept, ...rest };
    return { object, value: inCurrentForm(stringifyExact(object)) };
  };
}

/** The entry of an object that has just been written; memory hears of it a little later. */
export function writtenEntry(
  { cached, definition }: Resource,
  key: string,
  revision: Revision,
  { object, value }: StoredObject,
): CacheEntry {
  return cached.written({ key, value, revision }, asRead(definition, object, revision));
}

/** What parsing the stored bytes would give; undefined where that takes more than to look. */
export function asRead({ written }: KindDefinition, stored: KubeObject, revision: Revision): KubeObject | undefined {
  if (written !== undefined || !isJson(stored)) return undefined;
  return withMetadata(stored, { resourceVersion: String(revision), ...stored.metadata });
}

/** Whether a value is as it would be if it were written as JSON and read again: nothing undefined, no other objects. */
function isJson(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  // A whole number beyond 2^53 is read as another sort of number.
  if (typeof value === 'number') return Number.isSafeInteger(value) || (Number.isFinite(value) && value % 1 !== 0);
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
