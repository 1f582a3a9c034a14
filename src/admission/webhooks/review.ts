import { stringifyExact } from '../../api/codec/exact-json';
import type { GroupVersionKind } from '../../api/object';
import type { UserInfo } from '../../api/user';
import { isNamespace, type AdmissionAttributes } from '../plugin';
import type { VersionedResource } from '../versions/object-versions';
import type { ReviewVersion } from './webhook';

/** The objects of a request as a webhook sees them, printed. Several webhooks see the same. */
export interface PrintedObjects {
  /** JSON, `null` where there is none. */
  readonly object: Buffer;
  readonly oldObject: Buffer;
}

const GROUP = 'admission.k8s.io';
const OLD_OBJECT = Buffer.from(',"oldObject":');

/** The apiVersion of a review. */
export function reviewApiVersion(version: ReviewVersion): string {
  return `${GROUP}/${version}`;
}

function kindText({ group, version, kind }: GroupVersionKind): object {
  return { group, version, kind };
}

function resourceText({ group, version, resource }: Omit<VersionedResource, 'kind'>): object {
  return { group, version, resource };
}

function userInfo({ name, uid, groups, extra }: UserInfo): object {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid ? { uid } : {}),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/**
 * The options of the operation as it turned out: a patch is an update, one that creates, or a PUT that does, is a create. Neither has a
 * word for `force`. Connections have none.
 */
function operationOptions(attributes: AdmissionAttributes): object | null {
  const { operation, options, oldObject } = attributes;
  if (operation === 'CONNECT') return null;
  if (operation === 'DELETE') {
    // The one that is there is meant, and not one that takes its place.
    const uid = isNamespace(attributes) ? oldObject?.metadata.uid : undefined;
    return uid === undefined ? options : { ...options, preconditions: { uid, ...(options.preconditions as object) } };
  }
  const { kind: _kind, force: _force, ...given } = options;
  return { kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions', ...given };
}

/** The AdmissionReview that a webhook is sent, in pieces (spec, "AdmissionReview"). */
export function printReview(
  uid: string,
  version: ReviewVersion,
  attributes: AdmissionAttributes,
  seenAs: VersionedResource,
  { object, oldObject }: PrintedObjects,
): readonly Uint8Array[] {
  const { group, version: requested, resource, subresource, kind, name, operation, user, dryRun } = attributes;
  // A namespace stands in itself, also before it is there.
  const namespace = isNamespace(attributes) ? attributes.namespace || name : attributes.namespace;
  const head = stringifyExact({
    uid,
    kind: kindText(seenAs.kind),
    resource: resourceText(seenAs),
    ...(seenAs.subresource === '' ? {} : { subResource: seenAs.subresource }),
    requestKind: kindText(kind),
    requestResource: resourceText({ group, version: requested, resource, subresource }),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: userInfo(user),
  });
  const options = stringifyExact(operationOptions(attributes));
  const review = `{"kind":"AdmissionReview","apiVersion":"${reviewApiVersion(version)}"`;
  return [
    Buffer.from(`${review},"request":${head.slice(0, -1)},"object":`),
    object,
    OLD_OBJECT,
    oldObject,
    Buffer.from(`,"dryRun":${dryRun},"options":${options}}}`),
  ];
}
