import { invalid, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { LeaseSpec } from '../schema/generated/coordination-v1';

/** All problems of a lease's spec. */
export function validateLease(object: KubeObject): readonly FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = (object['spec'] ?? {}) as LeaseSpec;
  return [
    ...(duration !== undefined && duration <= 0
      ? [invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
      : []),
    // The slip in the sentence is the wire's.
    ...(transitions !== undefined && transitions < 0
      ? [invalid('spec.leaseTransitions', transitions, 'must to greater or equal than 0')]
      : []),
  ];
}
