import { invalid, notSupported, type FieldError } from '../api/errors/field-error';
import { conflict, invalidObject } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { Resource } from './resource';
import type { DeleteOptions } from './types';

const PROPAGATION_POLICIES: readonly string[] = ['Foreground', 'Background', 'Orphan'];

/** Throws 422 for an unknown policy, or for both ways to name one. */
export function validateDeleteOptions({ propagationPolicy, orphanDependents }: DeleteOptions): void {
  if (propagationPolicy === undefined) return;
  const errors: FieldError[] = [];
  if (!PROPAGATION_POLICIES.includes(propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', propagationPolicy, [...PROPAGATION_POLICIES, 'nil']));
  }
  if (orphanDependents !== undefined) {
    errors.push(
      invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
}

/** Throws 409 when the object is not the one that the client meant to delete. */
export function checkDeletePreconditions(
  { groupKind: { group, kind } }: Resource,
  { metadata }: KubeObject,
  { preconditions }: DeleteOptions,
): void {
  if (preconditions === undefined) return;
  const { uid, resourceVersion } = preconditions;
  // The wire names the kind here where other conflicts name the resource.
  const of = { group, resource: kind };
  const name = metadata.name ?? '';
  if (uid !== undefined && uid !== metadata.uid) {
    const cause =
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ''}). ` +
      'The object might have been deleted and then recreated';
    throw conflict(of, name, cause);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const cause =
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record ` +
      `(${metadata.resourceVersion ?? ''}). The object might have been modified`;
    throw conflict(of, name, cause);
  }
}
