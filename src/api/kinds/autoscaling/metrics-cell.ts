import type { KubeObject } from '../../object';
import { listAt, mapAt, stringAt, valueAt, type PlainMap } from '../field-values';

const MAX_METRICS = 2;
const SOURCE_FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    External: 'external',
    Pods: 'pods',
    Object: 'object',
    Resource: 'resource',
    ContainerResource: 'containerResource',
  }),
);

function quantity(values: PlainMap, field: string): string {
  return stringAt(values, field) || '<unknown>';
}

function percent(values: PlainMap): string | undefined {
  const utilization = valueAt(values, 'averageUtilization');
  return typeof utilization === 'number' ? `${utilization}%` : undefined;
}

function metricText(metric: unknown, status: unknown): string {
  const type = stringAt(metric, 'type');
  const field = SOURCE_FIELDS.get(type);
  if (field === undefined) return '<unknown type>';
  const target = mapAt(metric, field, 'target');
  const current = mapAt(status, field, 'current');
  const averaged = stringAt(target, 'averageValue');
  switch (type) {
    case 'Pods':
      return `${quantity(current, 'averageValue')}/${averaged}`;
    case 'External':
    case 'Object':
      return averaged === ''
        ? `${quantity(current, 'value')}/${stringAt(target, 'value')}`
        : `${quantity(current, 'averageValue')}/${averaged} (avg)`;
    default:
      return averaged === ''
        ? `${percent(current) ?? '<unknown>'}/${percent(target) ?? '<auto>'}`
        : `${quantity(current, 'averageValue')}/${averaged}`;
  }
}

/** Measured against wanted values of the first metrics: `5%/80%, 3/10 (avg) + 1 more...`. */
export function metricsCell(autoscaler: KubeObject): string {
  const metrics = listAt(autoscaler, 'spec', 'metrics');
  if (metrics.length === 0) return '<none>';
  const statuses = listAt(autoscaler, 'status', 'currentMetrics');
  const shown = metrics.slice(0, MAX_METRICS).map((metric, index) => metricText(metric, statuses[index]));
  const more = metrics.length > MAX_METRICS ? ` + ${metrics.length - MAX_METRICS} more...` : '';
  return `${shown.join(', ')}${more}`;
}
