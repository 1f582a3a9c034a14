import { invalid, notSupported, type FieldError } from '../api/errors/field-error';
import { conflict, invalidObject, type StatusError } from '../api/errors/status-error';
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
  { definition, groupResource, groupKind: { group, kind } }: Resource,
  { metadata }: KubeObject,
  { preconditions }: DeleteOptions,
): void {
  if (preconditions === undefined) return;
  const { uid, resourceVersion } = preconditions;
  const name = metadata.name ?? '';
  const fail = (what: string, wanted: string, found = '', consequence: string): StatusError =>
    // Kinds that a controller empties first answer for themselves; the others name the kind where conflicts name the resource.
    definition.prepareForDelete === undefined
      ? conflict(
          { group, resource: kind },
          name,
          `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found}). ` +
            `The object might have been ${consequence}`,
        )
      : conflict(
          groupResource,
          name,
          `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`,
        );
  if (uid !== undefined && uid !== metadata.uid) throw fail('UID', uid, metadata.uid, 'deleted and then recreated');
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw fail('ResourceVersion', resourceVersion, metadata.resourceVersion, 'modified');
  }
}
