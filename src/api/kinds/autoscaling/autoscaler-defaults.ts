import type { KubeObject } from '../../object';
import { isPlainMap, listAt, mapAt, valueAt, type PlainMap } from '../field-values';
import { withFields } from '../strategies';
import { hasMetricsAnnotation } from './autoscaler-conversion-v1';

/** Without any metric, an autoscaler aims at this use of the CPU, in percent of what pods request. */
const DEFAULT_CPU_UTILIZATION = 80;

const SCALE_UP: PlainMap = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN: PlainMap = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
};
/** The order in which the API shows them. */
const RULE_FIELDS = ['stabilizationWindowSeconds', 'selectPolicy', 'policies'];

function defaultRules(given: unknown, defaults: PlainMap): PlainMap {
  const all: PlainMap = { ...defaults, ...(isPlainMap(given) ? given : {}) };
  return Object.fromEntries(
    RULE_FIELDS.filter((field) => all[field] !== undefined).map((field) => [field, all[field]]),
  );
}

/** A behaviour that says something gets what it leaves out. */
function defaultBehavior(object: KubeObject): KubeObject {
  const behavior = valueAt(object, 'spec', 'behavior');
  if (!isPlainMap(behavior)) return object;
  return withFields(object, 'spec', {
    behavior: {
      scaleUp: defaultRules(behavior['scaleUp'], SCALE_UP),
      scaleDown: defaultRules(behavior['scaleDown'], SCALE_DOWN),
    },
  });
}

function defaultMetrics(object: KubeObject, version: string): KubeObject {
  if (version === 'v1') {
    const isGiven = valueAt(object, 'spec', 'targetCPUUtilizationPercentage') !== undefined;
    return isGiven || hasMetricsAnnotation(object)
      ? object
      : withFields(object, 'spec', { targetCPUUtilizationPercentage: DEFAULT_CPU_UTILIZATION });
  }
  if (listAt(object, 'spec', 'metrics').length > 0) return object;
  const cpu =
    version === 'v2beta1'
      ? { name: 'cpu', targetAverageUtilization: DEFAULT_CPU_UTILIZATION }
      : { name: 'cpu', target: { type: 'Utilization', averageUtilization: DEFAULT_CPU_UTILIZATION } };
  return withFields(object, 'spec', { metrics: [{ type: 'Resource', resource: cpu }] });
}

export function defaultAutoscaler(object: KubeObject, version: string): KubeObject {
  return defaultBehavior(defaultMetrics({ ...object, spec: mapAt(object, 'spec') }, version));
}
