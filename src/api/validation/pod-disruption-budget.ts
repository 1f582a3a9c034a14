import { notSupported, type FieldError } from '../errors/field-error';
import type { RequestedVersion } from '../kinds/kind-definition';
import type { KubeObject } from '../object';
import type { PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from '../schema/generated/policy-v1';
import { invalidLiteral } from './go-literal';
import { structLiteral } from './immutable';
import { validateLabelSelector } from './label-selector';
import { validateAtMostAll, validateIntOrPercent, validateNonNegative } from './numbers';

/** All problems of a budget: also what an update checks. */
export function validatePodDisruptionBudget(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as PodDisruptionBudgetSpec;
  const both = spec.minAvailable !== undefined && spec.maxUnavailable !== undefined;
  const literal = structLiteral('policy.PodDisruptionBudgetSpec', spec);
  return [
    ...(both ? [invalidLiteral('spec', literal, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...(['minAvailable', 'maxUnavailable'] as const).flatMap((field) => [
      ...validateIntOrPercent(spec[field], `spec.${field}`),
      ...validateAtMostAll(spec[field], `spec.${field}`),
    ]),
    ...validateLabelSelector(spec.selector, 'spec.selector'),
    ...validateUnhealthyPolicy(spec.unhealthyPodEvictionPolicy),
    ...validateCounts(object),
  ];
}

/** What may happen to pods that are not ready: whatever the budget says, or only while enough others are healthy. */
const UNHEALTHY_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

function validateUnhealthyPolicy(policy: string | undefined): readonly FieldError[] {
  return policy === undefined || UNHEALTHY_POLICIES.includes(policy)
    ? []
    : [notSupported('spec.unhealthyPodEvictionPolicy', policy, UNHEALTHY_POLICIES)];
}

const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;

/** v1beta1 has never checked the numbers of the status. */
export function validatePodDisruptionBudgetStatusUpdate(
  object: KubeObject,
  _old: KubeObject,
  requested?: RequestedVersion,
): readonly FieldError[] {
  if (requested?.version === 'v1beta1') return [];
  return validateCounts(object);
}

function validateCounts(object: KubeObject): readonly FieldError[] {
  const status = (object['status'] ?? {}) as PodDisruptionBudgetStatus;
  return COUNTS.flatMap((field) => validateNonNegative(status[field], `status.${field}`));
}
