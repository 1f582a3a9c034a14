import { isDeepStrictEqual } from 'node:util';
import { parseApiVersion, type KubeObject, type OwnerReference } from '../api/object';
import type { Authorize } from './authorize';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';

/** The resource of an owner's kind. */
export interface OwnerResource {
  readonly resource: string;
  readonly namespaced: boolean;
}

/** What the plugin asks. */
export interface OwnerReferencesDependencies {
  readonly authorize: Authorize;
  /** Undefined: no such kind is served. */
  readonly findResource: (group: string, version: string, kind: string) => OwnerResource | undefined;
}

function ownersOf(object: KubeObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

/** Owners whose deletion now waits for this object, and did not before. */
function newlyBlocking({ object, oldObject }: AdmissionAttributes): readonly OwnerReference[] {
  const before = new Map(ownersOf(oldObject).map((owner) => [owner.uid, owner]));
  return ownersOf(object).filter(
    ({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && before.get(uid)?.blockOwnerDeletion !== true,
  );
}

/**
 * OwnerReferencesPermissionEnforcement: to give an object to an owner one must be allowed to delete the object, since
 * that is what the owner's deletion does; to hold up an owner's deletion one must be allowed to set its finalizers.
 */
export function ownerReferencesPermissionEnforcement({
  authorize,
  findResource,
}: OwnerReferencesDependencies): AdmissionPlugin {
  const checkDeletion = async (attributes: AdmissionAttributes): Promise<void> => {
    const { user, group, version, resource, subresource, namespace, name } = attributes;
    const { allowed, reason } = await authorize({
      user,
      verb: 'delete',
      group,
      version,
      resource,
      subresource,
      namespace,
      name,
    });
    if (allowed) return;
    throw refuse(attributes, `cannot set an ownerRef on a resource you can't delete: ${reason}, <nil>`);
  };
  const checkBlocking = async (attributes: AdmissionAttributes, owner: OwnerReference): Promise<void> => {
    const { apiVersion, kind } = owner;
    const { group, version } = parseApiVersion(apiVersion);
    const found = findResource(group, version, kind);
    if (found === undefined) {
      throw refuse(
        attributes,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} ` +
          `Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
      );
    }
    const { allowed, reason } = await authorize({
      user: attributes.user,
      verb: 'update',
      group,
      version,
      resource: found.resource,
      subresource: 'finalizers',
      namespace: found.namespaced ? attributes.namespace : '',
      name: owner.name,
    });
    if (allowed) return;
    throw refuse(
      attributes,
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: " +
        `${reason}, <nil>`,
    );
  };
  const checkChange = async (attributes: AdmissionAttributes): Promise<void> => {
    if (attributes.operation !== 'CREATE') await checkDeletion(attributes);
    for (const owner of newlyBlocking(attributes)) await checkBlocking(attributes, owner);
  };
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      const { group, resource, subresource, object, oldObject } = attributes;
      // A kubelet writes the status of pods that it may not delete.
      if (group === '' && resource === 'pods' && subresource === 'status') return;
      return isDeepStrictEqual(ownersOf(object), ownersOf(oldObject)) ? undefined : checkChange(attributes);
    },
  };
}
