import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { RequestedVersion } from '../kinds/kind-definition';
import type { KubeObject } from '../object';
import type {
  CrossVersionObjectReference,
  HPAScalingPolicy,
  HPAScalingRules,
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
} from '../schema/generated/autoscaling-v2';
import { validateMetrics } from './autoscaler-metrics';
import { pathSegmentName } from './names';
import { validateNonNegative } from './numbers';
import { checkEach } from './check-each';

const MAX_STABILIZATION_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;
const SELECT_POLICIES = ['Disabled', 'Max', 'Min'];
const POLICY_TYPES = ['Percent', 'Pods'];

function validateSegment(value: string, field: string): readonly FieldError[] {
  if (value === '') return [required(field, '')];
  return pathSegmentName(value, false).map((problem) => invalid(field, value, problem));
}

/** The kind and the name of another object. */
export function validateObjectReference(
  { kind = '', name = '' }: CrossVersionObjectReference,
  path: string,
): readonly FieldError[] {
  return [...validateSegment(kind, `${path}.kind`), ...validateSegment(name, `${path}.name`)];
}

function validatePolicy({ type = '', value = 0, periodSeconds = 0 }: HPAScalingPolicy, path: string) {
  const atMost = `must be less than or equal to ${MAX_PERIOD_SECONDS}`;
  return [
    ...(POLICY_TYPES.includes(type) ? [] : [notSupported(`${path}.type`, type, POLICY_TYPES)]),
    ...(value > 0 ? [] : [invalid(`${path}.value`, value, 'must be greater than zero')]),
    ...(periodSeconds > 0 ? [] : [invalid(`${path}.periodSeconds`, periodSeconds, 'must be greater than zero')]),
    ...(periodSeconds > MAX_PERIOD_SECONDS ? [invalid(`${path}.periodSeconds`, periodSeconds, atMost)] : []),
  ];
}

function validateRules(rules: HPAScalingRules | undefined, path: string): readonly FieldError[] {
  if (!rules) return [];
  const { stabilizationWindowSeconds: window, selectPolicy, policies } = rules;
  const field = `${path}.stabilizationWindowSeconds`;
  const atMost = `must be less than or equal to ${MAX_STABILIZATION_SECONDS}`;
  return [
    ...(window !== undefined && window < 0 ? [invalid(field, window, 'must be greater than or equal to zero')] : []),
    ...(window !== undefined && window > MAX_STABILIZATION_SECONDS ? [invalid(field, window, atMost)] : []),
    ...(selectPolicy === undefined || SELECT_POLICIES.includes(selectPolicy)
      ? []
      : [notSupported(`${path}.selectPolicy`, selectPolicy, SELECT_POLICIES)]),
    ...((policies ?? []).length === 0 ? [required(`${path}.policies`, 'must specify at least one Policy')] : []),
    ...checkEach(policies, (policy, index) => validatePolicy(policy, `${path}.policies[${index}]`)),
  ];
}

function validateReplicas(
  { minReplicas, maxReplicas = 0 }: HorizontalPodAutoscalerSpec,
  fewest: number,
): readonly FieldError[] {
  return [
    ...(minReplicas !== undefined && minReplicas < fewest
      ? [invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${fewest}`)]
      : []),
    ...(maxReplicas < 1 ? [invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0')] : []),
    ...(minReplicas !== undefined && maxReplicas < minReplicas
      ? [invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`')]
      : []),
  ];
}

function validateSpec(object: KubeObject, fewest: number, requested?: RequestedVersion): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as HorizontalPodAutoscalerSpec;
  const { metrics = [], behavior } = spec;
  const scalesToZero = spec.minReplicas === 0 && !metrics?.some(({ type }) => type === 'Object' || type === 'External');
  return [
    ...validateReplicas(spec, fewest),
    ...validateObjectReference(spec.scaleTargetRef ?? {}, 'spec.scaleTargetRef'),
    ...validateMetrics(metrics ?? [], 'spec.metrics', requested),
    ...(scalesToZero
      ? [
          forbiddenField(
            'spec.metrics',
            'must specify at least one Object or External metric to support scaling to zero replicas',
          ),
        ]
      : []),
    ...validateRules(behavior?.scaleUp, 'spec.behavior.scaleUp'),
    ...validateRules(behavior?.scaleDown, 'spec.behavior.scaleDown'),
  ];
}

/** All problems of an autoscaler's spec. */
export function validateAutoscaler(object: KubeObject, requested?: RequestedVersion): readonly FieldError[] {
  return validateSpec(object, 1, requested);
}

/** What has scaled to zero may go on doing so. */
export function validateAutoscalerUpdate(
  object: KubeObject,
  old: KubeObject,
  requested?: RequestedVersion,
): readonly FieldError[] {
  const { minReplicas } = (old['spec'] ?? {}) as HorizontalPodAutoscalerSpec;
  return validateSpec(object, minReplicas === 0 ? 0 : 1, requested);
}

/** With the gate HPAScaleToZero every autoscaler may scale to zero. */
export function validateAutoscalerToZero(object: KubeObject): readonly FieldError[] {
  return validateSpec(object, 0);
}

export function validateAutoscalerStatusUpdate(object: KubeObject): readonly FieldError[] {
  const status = (object['status'] ?? {}) as HorizontalPodAutoscalerStatus;
  return (['currentReplicas', 'desiredReplicas'] as const).flatMap((field) =>
    validateNonNegative(status[field], `status.${field}`),
  );
}
