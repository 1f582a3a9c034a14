import type { KubeObject } from '../../object';
import { withAnnotation, withoutAnnotations } from '../annotations';
import { isPlainMap, listAt, mapAt, numberAt, stringAt, valueAt, type PlainMap } from '../field-values';
import { withFields } from '../strategies';
import {
  metricsFromV2beta1,
  metricStatusesFromV2beta1,
  metricStatusesToV2beta1,
  metricsToV2beta1,
} from './autoscaler-conversion-v2beta1';
import { BEHAVIOR_ANNOTATION, parseAnnotation, readBehavior, writeBehavior } from './behavior-annotation';

/**
 * v1 has fields for one metric only, the utilization of CPU. The other metrics, the conditions and the behaviour
 * travel in annotations, the metrics in v2beta1's form.
 */
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';
const CURRENT_METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/conditions';
const ANNOTATIONS = [METRICS_ANNOTATION, CURRENT_METRICS_ANNOTATION, CONDITIONS_ANNOTATION, BEHAVIOR_ANNOTATION];

function isCpu(metric: unknown): boolean {
  return stringAt(metric, 'type') === 'Resource' && stringAt(metric, 'resource', 'name') === 'cpu';
}

function isCpuUtilization(metric: unknown): boolean {
  return isCpu(metric) && typeof valueAt(metric, 'resource', 'target', 'averageUtilization') === 'number';
}

function listFromAnnotation(object: KubeObject, annotation: string): readonly unknown[] {
  const parsed = parseAnnotation(object, annotation);
  return Array.isArray(parsed) ? (parsed as readonly unknown[]) : [];
}

/** True when a v1 object brings metrics besides its field for the CPU. */
export function hasMetricsAnnotation(object: KubeObject): boolean {
  return listFromAnnotation(object, METRICS_ANNOTATION).length > 0;
}

function specFromV1(object: KubeObject): PlainMap {
  const { targetCPUUtilizationPercentage: cpu, ...spec } = mapAt(object, 'spec');
  const others = metricsFromV2beta1(listFromAnnotation(object, METRICS_ANNOTATION));
  const cpuMetric = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpu } },
  };
  const metrics = typeof cpu === 'number' ? [...others, cpuMetric] : others;
  const behavior = readBehavior(object);
  return {
    ...spec,
    ...(metrics.length === 0 ? {} : { metrics }),
    ...(behavior === undefined ? {} : { behavior }),
  };
}

function statusFromV1(object: KubeObject): PlainMap {
  const { currentCPUUtilizationPercentage: cpu, ...status } = mapAt(object, 'status');
  const annotated = metricStatusesFromV2beta1(listFromAnnotation(object, CURRENT_METRICS_ANNOTATION));
  const cpuStatus = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: cpu } } };
  const measured = typeof cpu === 'number' && !annotated.some(isCpu) ? [cpuStatus, ...annotated] : annotated;
  const conditions = listFromAnnotation(object, CONDITIONS_ANNOTATION);
  return {
    ...status,
    currentMetrics: measured.length === 0 ? null : measured,
    conditions: conditions.length === 0 ? null : conditions,
  };
}

/** The metrics in the order in which they come back from v1. */
export function withCpuLast(object: KubeObject): KubeObject {
  const metrics = listAt(object, 'spec', 'metrics');
  const cpu = metrics.find(isCpuUtilization);
  if (cpu === undefined || cpu === metrics.at(-1)) return object;
  return withFields(object, 'spec', { metrics: [...metrics.filter((metric) => metric !== cpu), cpu] });
}

export function autoscalerFromV1(object: KubeObject): KubeObject {
  return withoutAnnotations({ ...object, spec: specFromV1(object), status: statusFromV1(object) }, ANNOTATIONS);
}

/** The annotations that hold what v1 has no fields for; an annotation for nothing is not written. */
function annotationsForV1(object: KubeObject): readonly (readonly [name: string, value: string])[] {
  const cpu = listAt(object, 'spec', 'metrics').find(isCpuUtilization);
  const others = listAt(object, 'spec', 'metrics').filter((metric) => metric !== cpu);
  const measured = listAt(object, 'status', 'currentMetrics');
  const conditions = listAt(object, 'status', 'conditions');
  const behavior = valueAt(object, 'spec', 'behavior');
  return [
    ...(others.length === 0 ? [] : [[METRICS_ANNOTATION, JSON.stringify(metricsToV2beta1(others))] as const]),
    ...(measured.length === 0
      ? []
      : [[CURRENT_METRICS_ANNOTATION, JSON.stringify(metricStatusesToV2beta1(measured))] as const]),
    ...(conditions.length === 0 ? [] : [[CONDITIONS_ANNOTATION, JSON.stringify(conditions)] as const]),
    ...(isPlainMap(behavior) ? [[BEHAVIOR_ANNOTATION, writeBehavior(behavior)] as const] : []),
  ];
}

export function autoscalerToV1(object: KubeObject): KubeObject {
  const { metrics: _metrics, behavior: _behavior, ...spec } = mapAt(object, 'spec');
  const { currentMetrics: _current, conditions: _conditions, ...status } = mapAt(object, 'status');
  const cpu = listAt(object, 'spec', 'metrics').find(isCpuUtilization);
  const measuredCpu = listAt(object, 'status', 'currentMetrics').find(isCpu);
  const measured = numberAt(measuredCpu, 'resource', 'current', 'averageUtilization');
  const converted: KubeObject = {
    ...object,
    spec:
      cpu === undefined
        ? spec
        : { ...spec, targetCPUUtilizationPercentage: numberAt(cpu, 'resource', 'target', 'averageUtilization') },
    status: measured === 0 ? status : { ...status, currentCPUUtilizationPercentage: measured },
  };
  return annotationsForV1(object).reduce((result, [name, value]) => withAnnotation(result, name, value), converted);
}
