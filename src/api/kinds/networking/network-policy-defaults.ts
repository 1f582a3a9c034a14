import type { KubeObject } from '../../object';
import { listAt } from '../field-values';
import { withFields } from '../strategies';

/** A policy that does not say what it is about is about ingress, and about egress if it has a section on it. */
export function defaultNetworkPolicy(object: KubeObject): KubeObject {
  if (listAt(object, 'spec', 'policyTypes').length > 0) return object;
  const hasEgress = listAt(object, 'spec', 'egress').length > 0;
  return withFields(object, 'spec', { policyTypes: hasEgress ? ['Ingress', 'Egress'] : ['Ingress'] });
}
