import { forbiddenField, notSupported, required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { DaemonSetSpec, DaemonSetStatus, DaemonSetUpdateStrategy } from '../schema/generated/apps-v1';
import {
  intOrStringLiteral,
  invalidLiteral,
  labelSelectorLiteral,
  labelsLiteral,
  notSupportedLiteral,
} from './go-literal';
import { validateUnchanged } from './immutable';
import { checkSelected, checkUsable, isEmptySelector, validateLabelSelector } from './label-selector';
import {
  intOrPercentValue,
  validateAtMostAll,
  validateIntOrPercent,
  validateNonNegative,
  validateNotDecremented,
} from './numbers';
import { validatePodTemplate } from './pod-template';
import { validateSharedDisks } from './replicated-template';

const STRATEGY_TYPES = ['RollingUpdate', 'OnDelete'];

function specOf(object: KubeObject): DaemonSetSpec {
  return object['spec'] ?? {};
}

function validateRollingUpdate({ rollingUpdate }: DaemonSetUpdateStrategy, path: string): readonly FieldError[] {
  if (!rollingUpdate) return [required(`${path}.rollingUpdate`, '')];
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const field = `${path}.rollingUpdate.maxUnavailable`;
  const neitherMoves = intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0;
  return [
    ...validateIntOrPercent(maxUnavailable, field),
    ...(neitherMoves ? [invalidLiteral(field, intOrStringLiteral(maxUnavailable), 'cannot be 0')] : []),
    ...validateAtMostAll(maxUnavailable, field),
    ...validateIntOrPercent(maxSurge, `${path}.rollingUpdate.maxSurge`),
  ];
}

function validateStrategy(strategy: DaemonSetUpdateStrategy, path: string): readonly FieldError[] {
  const { type = '' } = strategy;
  if (type === 'RollingUpdate') return validateRollingUpdate(strategy, path);
  if (STRATEGY_TYPES.includes(type)) return [];
  const literal = `apps.DaemonSetUpdateStrategy{Type:${JSON.stringify(type)}, RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}`;
  return [notSupportedLiteral(path, literal, STRATEGY_TYPES)];
}

function validateSelector({ selector, template }: DaemonSetSpec): readonly FieldError[] {
  const labels = template?.metadata?.labels;
  const detail = '`selector` does not match template `labels`';
  return [
    ...validateLabelSelector(selector, 'spec.selector'),
    ...checkUsable(selector, (isUsable) =>
      isUsable
        ? checkSelected(selector, labels, () => [
            invalidLiteral('spec.template.metadata.labels', labelsLiteral(template?.metadata), detail),
          ])
        : [],
    ),
    ...(selector && isEmptySelector(selector)
      ? [invalidLiteral('spec.selector', labelSelectorLiteral(selector), 'empty selector is invalid for daemonset')]
      : []),
  ];
}

/** All problems of a daemon set's spec. */
export function validateDaemonSet(object: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  const { template = {} } = spec;
  const restartPolicy = template.spec?.restartPolicy ?? '';
  return [
    ...validateSelector(spec),
    ...validatePodTemplate(template, 'spec.template'),
    ...validateSharedDisks(template, 'spec.template'),
    ...(restartPolicy === 'Always'
      ? []
      : [notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always'])]),
    ...(template.spec?.activeDeadlineSeconds === undefined
      ? []
      : [
          forbiddenField(
            'spec.template.spec.activeDeadlineSeconds',
            'activeDeadlineSeconds in DaemonSet is not Supported',
          ),
        ]),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...validateStrategy(spec.updateStrategy ?? {}, 'spec.updateStrategy'),
    ...validateNonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
  ];
}

/** An update reports the problems of the spec twice; the selector cannot change. */
export function validateDaemonSetUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = validateDaemonSet(object);
  const { selector } = specOf(object);
  const literal = (): string => labelSelectorLiteral(selector);
  return [...errors, ...errors, ...validateUnchanged(selector, specOf(old).selector, 'spec.selector', literal)];
}

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const;

export function validateDaemonSetStatusUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const status = (object['status'] ?? {}) as DaemonSetStatus;
  const { collisionCount } = (old['status'] ?? {}) as DaemonSetStatus;
  return [
    ...COUNTS.flatMap((field) => validateNonNegative(status[field], `status.${field}`)),
    ...validateNotDecremented(status.collisionCount, collisionCount, 'status.collisionCount'),
  ];
}
