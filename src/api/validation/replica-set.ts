import { invalid, type FieldError } from '../errors/field-error';
import { checkSame } from './immutable';
import type { KubeObject } from '../object';
import type { ReplicaSetSpec, ReplicaSetStatus } from '../schema/generated/apps-v1';
import { invalidLiteral, labelSelectorLiteral } from './go-literal';
import { validateNonNegative } from './numbers';
import { validateSelectorAndTemplate } from './workload-selector';

/** All problems of a replica set's spec. */
export function validateReplicaSet(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as ReplicaSetSpec;
  return [
    ...validateNonNegative(spec.replicas, 'spec.replicas'),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...validateSelectorAndTemplate(spec, 'spec'),
  ];
}

/** An update reports the problems of the spec twice; the selector cannot change. */
export function validateReplicaSetUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = validateReplicaSet(object);
  const selector = ((object['spec'] ?? {}) as ReplicaSetSpec).selector;
  const oldSelector = ((old['spec'] ?? {}) as ReplicaSetSpec).selector;
  return [
    ...errors,
    ...errors,
    ...checkSame(selector, oldSelector, () => [
      invalidLiteral('spec.selector', labelSelectorLiteral(selector), 'field is immutable'),
    ]),
  ];
}

const PARTS = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;

export function validateReplicaSetStatusUpdate(object: KubeObject): readonly FieldError[] {
  const status = (object['status'] ?? {}) as ReplicaSetStatus;
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  return [
    ...(['replicas', ...PARTS, 'observedGeneration'] as const).flatMap((field) =>
      validateNonNegative(status[field], `status.${field}`),
    ),
    ...PARTS.filter((field) => (status[field] ?? 0) > replicas).map((field) =>
      invalid(`status.${field}`, status[field] ?? 0, 'cannot be greater than status.replicas'),
    ),
    ...(availableReplicas > readyReplicas
      ? [invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas')]
      : []),
  ];
}
