import { invalid, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type { Affinity, NodeAffinity, PodAffinity, PodAffinityTerm } from '../../schema/generated/core-v1';
import { validateLabelSelector } from '../label-selector';
import { dns1123LabelProblems } from '../names';
import { invalidBecause, validateQualifiedName } from './field-rules';
import { validateNodeSelector, validateNodeSelectorTerm } from './node-selector';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function validateWeight(weight: number | undefined, path: string): readonly FieldError[] {
  const value = weight ?? 0;
  return value > 0 && value <= 100 ? [] : [invalid(`${path}.weight`, value, 'must be in the range 1-100')];
}

function validateNodeAffinity(affinity: NodeAffinity, path: string): readonly FieldError[] {
  const wanted = affinity[REQUIRED];
  return [
    ...(wanted ? validateNodeSelector(wanted, `${path}.${REQUIRED}`) : []),
    ...checkEach(affinity[PREFERRED], ({ weight, preference }, index) => {
      const field = `${path}.${PREFERRED}[${index}]`;
      return [...validateWeight(weight, field), ...validateNodeSelectorTerm(preference ?? {}, `${field}.preference`)];
    }),
  ];
}

function validatePodTerm(term: PodAffinityTerm, path: string): readonly FieldError[] {
  const { labelSelector, namespaceSelector, namespaces, topologyKey = '' } = term;
  const field = `${path}.topologyKey`;
  return [
    // The wire names the selector so.
    ...validateLabelSelector(labelSelector, `${path}.matchExpressions`),
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
    ...checkEach(namespaces, (name) => invalidBecause(`${path}.namespace`, name, dns1123LabelProblems(name))),
    ...(topologyKey === '' ? [required(field, 'can not be empty')] : []),
    ...validateQualifiedName(topologyKey, field),
  ];
}

function validatePodAffinity(affinity: PodAffinity, path: string): readonly FieldError[] {
  return [
    ...checkEach(affinity[REQUIRED], (term, index) => validatePodTerm(term, `${path}.${REQUIRED}[${index}]`)),
    ...checkEach(affinity[PREFERRED], ({ weight, podAffinityTerm }, index) => {
      const field = `${path}.${PREFERRED}[${index}]`;
      return [...validateWeight(weight, field), ...validatePodTerm(podAffinityTerm ?? {}, `${field}.podAffinityTerm`)];
    }),
  ];
}

export function validateAffinity(affinity: Affinity | undefined, path: string): readonly FieldError[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  return [
    ...(nodeAffinity ? validateNodeAffinity(nodeAffinity, `${path}.nodeAffinity`) : []),
    ...(podAffinity ? validatePodAffinity(podAffinity, `${path}.podAffinity`) : []),
    ...(podAntiAffinity ? validatePodAffinity(podAntiAffinity, `${path}.podAntiAffinity`) : []),
  ];
}
