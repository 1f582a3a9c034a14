import { stringifyExact } from '../../api/codec/exact-json';
import { printJson } from '../../api/codec/json-print';
import type { KubeObject } from '../../api/object';
import { isLarge, type Steps } from '../../api/parts';
import type { AdmissionAttributes } from '../plugin';
import type { ObjectVersions, VersionedResource } from '../versions/object-versions';
import type { PrintedObjects } from './review';

/** The objects of a request in one version. */
export interface SeenObjects extends PrintedObjects {
  /** What is printed as `object`. */
  readonly plain: KubeObject | undefined;
}

const NULL = Buffer.from('null');

/** How webhooks that want one version see the request. */
export function* seeObjects(
  attributes: AdmissionAttributes,
  object: KubeObject | undefined,
  seenAs: VersionedResource,
  { toVersion }: Pick<ObjectVersions, 'toVersion'>,
): Steps<SeenObjects> {
  const plain = object && toVersion(object, seenAs, attributes);
  const { operation, oldObject } = attributes;
  const old = oldObject && toVersion(oldObject, seenAs, attributes);
  yield;
  return {
    plain,
    object: yield* printed(plain),
    // Who owned which field is left out of what an update replaces: kube-apiserver has taken it off by then.
    oldObject: yield* printed(operation === 'UPDATE' ? old && withoutOwners(old) : old),
  };
}

/** Prints an object or its absence. */
export function* printed(object: object | undefined): Steps<Buffer> {
  if (object === undefined) return NULL;
  if (!isLarge(object)) return Buffer.from(stringifyExact(object));
  return (yield* printJson(object)).bytes;
}

function withoutOwners(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _owners, ...metadata } = object.metadata;
  return { ...object, metadata };
}
