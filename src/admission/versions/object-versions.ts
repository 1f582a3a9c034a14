import type { MaybePromise } from '../../api/maybe-promise';
import type { Steps } from '../../api/parts';
import type { GroupVersionKind, JsonObject, KubeObject } from '../../api/object';
import type { AdmissionAttributes } from '../plugin';

/** A resource or subresource in one of the versions in which it is served. */
export interface VersionedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Of what is sent to it. */
  readonly kind: GroupVersionKind;
}

/** What the webhooks need to know of kinds. Objects of admission are in the storage version, those of webhooks in theirs. */
export interface ObjectVersions {
  /** Changes when other resources are served: what has been derived from them is out of date. */
  readonly generation: () => number;
  /** The other groups and versions under which the same objects are served, in order of preference. */
  readonly equivalents: (of: VersionedResource) => readonly VersionedResource[];
  /** An object or a subresource's own kind, complete as clients get it. */
  readonly toVersion: (
    object: KubeObject,
    wanted: VersionedResource,
    of: Pick<AdmissionAttributes, 'options'>,
  ) => KubeObject;
  /**
   * What a patch made of an object of that version, in the storage version, with defaults. Throws an Error when it is no object of
   * the kind, a StatusError where the client is told so. Both throw ConversionNeeded where a webhook converts.
   */
  readonly fromVersion: (document: JsonObject, given: VersionedResource, of: AdmissionAttributes) => Steps<KubeObject>;
}

/** The labels of a namespace, undefined: there is no such namespace. */
export type NamespaceLabels = (namespace: string) => MaybePromise<Readonly<Record<string, string>> | undefined>;

/** Tells versions of a resource apart, and kinds of what may be sent to a subresource. */
export function keyOf({ group, version, resource, subresource, kind }: VersionedResource): string {
  return `${group}/${version}/${resource}/${subresource} ${kind.group}/${kind.version}/${kind.kind}`;
}
