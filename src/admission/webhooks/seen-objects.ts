import type { KubeObject } from '../../api/object';
import type { AdmissionAttributes } from '../plugin';
import type { ObjectVersions, VersionedResource } from './object-versions';
import { printObject, type PrintedObjects } from './review';

/** The objects of a request in one version. */
export interface SeenObjects extends PrintedObjects {
  /** What is printed as `object`. */
  readonly plain: KubeObject | undefined;
}

/** How webhooks that want one version see the request. */
export function seeObjects(
  attributes: AdmissionAttributes,
  object: KubeObject | undefined,
  seenAs: VersionedResource,
  versions: Pick<ObjectVersions, 'toVersion'>,
  printedOld = printOld(attributes, seenAs, versions),
): SeenObjects {
  const plain = object && versions.toVersion(object, seenAs, attributes);
  return { plain, object: printObject(plain), oldObject: printedOld };
}

function printOld(
  attributes: AdmissionAttributes,
  seenAs: VersionedResource,
  { toVersion }: Pick<ObjectVersions, 'toVersion'>,
): string {
  const { oldObject } = attributes;
  if (oldObject === undefined) return 'null';
  const old = toVersion(oldObject, seenAs, attributes);
  // Who owned which field is left out of what an update replaces: kube-apiserver has taken it off by then.
  return printObject(attributes.operation === 'UPDATE' ? withoutOwners(old) : old);
}

function withoutOwners(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _owners, ...metadata } = object.metadata;
  return { ...object, metadata };
}
