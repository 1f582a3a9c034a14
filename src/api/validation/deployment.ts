import { forbiddenField, invalid, required, type FieldError } from '../errors/field-error';
import { checkSame } from './immutable';
import type { KubeObject } from '../object';
import type {
  DeploymentSpec,
  DeploymentStatus,
  DeploymentStrategy,
  RollingUpdateDeployment,
} from '../schema/generated/apps-v1';
import { intOrStringLiteral, invalidLiteral, labelSelectorLiteral, notSupportedLiteral } from './go-literal';
import {
  intOrPercentValue,
  validateAtMostAll,
  validateIntOrPercent,
  validateNonNegative,
  validateNotDecremented,
} from './numbers';
import { validateSelectorAndTemplate } from './workload-selector';

const STRATEGY_TYPES = ['Recreate', 'RollingUpdate'];

function validateRollingUpdate(update: RollingUpdateDeployment, path: string): readonly FieldError[] {
  const { maxUnavailable, maxSurge } = update;
  const neitherMoves = intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0;
  return [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
    ...(neitherMoves
      ? [
          invalidLiteral(
            `${path}.maxUnavailable`,
            intOrStringLiteral(maxUnavailable),
            'may not be 0 when `maxSurge` is 0',
          ),
        ]
      : []),
    ...validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`),
  ];
}

function validateStrategy(strategy: DeploymentStrategy, path: string): readonly FieldError[] {
  const { type = '', rollingUpdate } = strategy;
  switch (type) {
    case 'Recreate':
      return rollingUpdate
        ? [forbiddenField(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")]
        : [];
    case 'RollingUpdate':
      return rollingUpdate
        ? validateRollingUpdate(rollingUpdate, `${path}.rollingUpdate`)
        : [required(`${path}.rollingUpdate`, 'this should be defaulted and never be nil')];
    default: {
      const literal = `apps.DeploymentStrategy{Type:${JSON.stringify(type)}, RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}`;
      return [notSupportedLiteral(path, literal, STRATEGY_TYPES)];
    }
  }
}

function validateProgressDeadline(spec: DeploymentSpec, path: string): readonly FieldError[] {
  const deadline = spec.progressDeadlineSeconds;
  const field = `${path}.progressDeadlineSeconds`;
  if (deadline === undefined) return [];
  return [
    ...validateNonNegative(deadline, field),
    ...(deadline <= (spec.minReadySeconds ?? 0)
      ? [invalid(field, deadline, 'must be greater than minReadySeconds')]
      : []),
  ];
}

/** All problems of a deployment's spec. */
export function validateDeployment(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as DeploymentSpec;
  return [
    ...validateNonNegative(spec.replicas, 'spec.replicas'),
    ...validateSelectorAndTemplate(spec, 'spec'),
    ...validateStrategy(spec.strategy ?? {}, 'spec.strategy'),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...validateNonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
    ...validateProgressDeadline(spec, 'spec'),
  ];
}

/** The pods of a deployment are found by its selector, so that it cannot change. */
export function validateDeploymentUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const selector = ((object['spec'] ?? {}) as DeploymentSpec).selector;
  const oldSelector = ((old['spec'] ?? {}) as DeploymentSpec).selector;
  return [
    ...validateDeployment(object),
    ...checkSame(selector, oldSelector, () => [
      invalidLiteral('spec.selector', labelSelectorLiteral(selector), 'field is immutable'),
    ]),
  ];
}

const COUNTS = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'] as const;
const PARTS = ['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const;

function validateStatus(status: DeploymentStatus): readonly FieldError[] {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  return [
    ...validateNonNegative(status.observedGeneration, 'status.observedGeneration'),
    ...COUNTS.flatMap((field) => validateNonNegative(status[field], `status.${field}`)),
    ...validateNonNegative(status.collisionCount, 'status.collisionCount'),
    ...PARTS.filter((field) => (status[field] ?? 0) > replicas).map((field) =>
      invalid(`status.${field}`, status[field] ?? 0, 'cannot be greater than status.replicas'),
    ),
    ...(availableReplicas > readyReplicas
      ? [invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas')]
      : []),
  ];
}

export function validateDeploymentStatusUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const status = (object['status'] ?? {}) as DeploymentStatus;
  const oldStatus = (old['status'] ?? {}) as DeploymentStatus;
  return [
    ...validateStatus(status),
    ...validateNotDecremented(status.collisionCount, oldStatus.collisionCount, 'status.collisionCount'),
  ];
}
