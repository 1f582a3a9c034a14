import { stringifyExact } from '../api/codec/exact-json';
import { isJson, printJson } from '../api/codec/json-print';
import { withMetadata } from '../api/extend';
import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import { apiVersionOf, type KubeObject } from '../api/object';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { isLarge, type Steps } from '../api/parts';
import { runSteps } from '../async/steps';
import type { CacheEntry } from '../storage/cache/cache';
import { CURRENT_FORM, inCurrentForm } from '../storage/cache/stored-form';
import type { Revision, WriteOptions } from '../storage/store';
import type { Resource } from './resource';
import type { StorageEncoder, StoredObject } from './storage-encoder';
import type { OperationContext } from './types';

export function storageEncoder(definition: KindDefinition): StorageEncoder {
  const toForm = storedFormOf(definition);
  const atOnce = (memory: KubeObject): StoredObject => {
    const object = toForm(memory);
    return { object, value: inCurrentForm(stringifyExact(object)) };
  };
  function* inSteps(memory: KubeObject): Steps<StoredObject> {
    const object = toForm(memory);
    const { bytes, isPlain } = yield* printJson(object, CURRENT_FORM);
    return { object, value: bytes, isPlain };
  }
  return Object.assign(atOnce, { inSteps });
}

/** Neither resourceVersion, which is the key's revision, nor selfLink is stored. */
function storedFormOf({ kind, storage, written }: KindDefinition): (memory: KubeObject) => KubeObject {
  const { group, version } = written ?? storage;
  const apiVersion = apiVersionOf(group, version);
  return (memory) => {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = written?.fromMemory(memory) ?? memory;
    const { resourceVersion: _resourceVersion, selfLink: _selfLink, ...kept } = metadata;
    return { kind, apiVersion, metadata: kept, ...rest };
  };
}

/** The object as it is written; a large one in turns with others. */
export function encodeStored(
  { toStored, conversion }: Resource,
  object: KubeObject,
  { pace }: Pick<OperationContext, 'pace'>,
): MaybePromise<StoredObject> {
  const encode = (inStorageVersion: KubeObject): MaybePromise<StoredObject> => {
    if (pace?.givesWay === true) return pace.takeSteps(toStored.inSteps(inStorageVersion));
    // What the server writes by itself has no pace, as the status of a large definition.
    const isLong = pace === undefined && isLarge(inStorageVersion);
    return isLong ? runSteps(toStored.inSteps(inStorageVersion), 'a large object') : toStored(inStorageVersion);
  };
  return conversion === undefined ? encode(object) : whenKnown(conversion.toStorage(object), encode);
}

/** The entry of an object that has just been written; memory hears of it a little later. */
export function writtenEntry(
  { cached, definition }: Resource,
  key: string,
  revision: Revision,
  { object, value, isPlain }: StoredObject,
): CacheEntry {
  return cached.written({ key, value, revision }, asRead(definition, object, revision, isPlain));
}

/** What parsing the stored bytes would give; undefined where that takes more than to look. */
export function asRead(
  { written }: KindDefinition,
  stored: KubeObject,
  revision: Revision,
  isPlain?: boolean,
): KubeObject | undefined {
  if (written !== undefined || !(isPlain ?? isJson(stored))) return undefined;
  return withMetadata(stored, { resourceVersion: String(revision), ...stored.metadata });
}

export function writeOptions({ definition: { ttlSeconds } }: Resource): WriteOptions {
  return ttlSeconds === undefined ? {} : { ttlSeconds };
}
