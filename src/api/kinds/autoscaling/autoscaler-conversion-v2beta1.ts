import { setMember } from '../../apply/members';
import type { JsonValue, KubeObject } from '../../object';
import { withAnnotation, withoutAnnotations } from '../annotations';
import { isPlainMap, listAt, mapAt, valueAt, type PlainMap } from '../field-values';
import { withFields } from '../strategies';
import { BEHAVIOR_ANNOTATION, readBehavior, writeBehavior } from './behavior-annotation';

/**
 * v2beta1 spreads over each metric source what v2beta2 groups as `metric`, `target` and `current`, and keeps the
 * behaviour in an annotation.
 */
/** Metrics may be thousands: a loop takes a fifth of what entries and their filter do. */
function defined(fields: PlainMap): PlainMap {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined && value !== null) kept[name] = value;
  }
  return kept;
}

/** Members have whatever names users gave them in an annotation. */
function convertSource(metric: PlainMap, converters: Converters): PlainMap {
  const converted: Record<string, JsonValue> = {};
  for (const field of Object.keys(metric)) {
    const value = metric[field];
    const convert = Object.hasOwn(converters, field) ? converters[field] : undefined;
    setMember(converted, field, (convert !== undefined && isPlainMap(value) ? convert(value) : value) as JsonValue);
  }
  return converted;
}

function identifier(metricName: unknown, selector: unknown): PlainMap {
  return defined({ name: metricName ?? '', selector });
}

/** A target's type follows from the value that is set: an average wins over a plain value. */
function target(value: unknown, averageValue: unknown, averageUtilization: unknown): PlainMap {
  const type = averageUtilization !== undefined ? 'Utilization' : averageValue !== undefined ? 'AverageValue' : 'Value';
  return defined({ type, value, averageValue, averageUtilization });
}

/** A zero stands where v2beta1 must show a quantity and there is none. */
function averageOnly(value: unknown, averageValue: unknown): unknown {
  return averageValue !== undefined && value === '0' ? undefined : value;
}

const SPEC_TO_BETA2 = {
  object: ({ target: described, metricName, targetValue, selector, averageValue }: PlainMap): PlainMap => ({
    describedObject: described,
    target: target(averageOnly(targetValue, averageValue), averageValue, undefined),
    metric: identifier(metricName, selector),
  }),
  pods: ({ metricName, targetAverageValue, selector }: PlainMap): PlainMap => ({
    metric: identifier(metricName, selector),
    target: target(undefined, targetAverageValue, undefined),
  }),
  resource: ({ name, targetAverageUtilization, targetAverageValue }: PlainMap): PlainMap => ({
    name,
    target: target(undefined, targetAverageValue, targetAverageUtilization),
  }),
  containerResource: ({ name, container, targetAverageUtilization, targetAverageValue }: PlainMap): PlainMap => ({
    name,
    target: target(undefined, targetAverageValue, targetAverageUtilization),
    container,
  }),
  external: ({ metricName, metricSelector, targetValue, targetAverageValue }: PlainMap): PlainMap => ({
    metric: identifier(metricName, metricSelector),
    target: target(targetValue, targetAverageValue, undefined),
  }),
};

const SPEC_FROM_BETA2 = {
  object: (source: PlainMap): PlainMap =>
    defined({
      target: source['describedObject'],
      metricName: valueAt(source, 'metric', 'name'),
      targetValue: valueAt(source, 'target', 'value') ?? '0',
      selector: valueAt(source, 'metric', 'selector'),
      averageValue: valueAt(source, 'target', 'averageValue'),
    }),
  pods: (source: PlainMap): PlainMap =>
    defined({
      metricName: valueAt(source, 'metric', 'name'),
      targetAverageValue: valueAt(source, 'target', 'averageValue') ?? '0',
      selector: valueAt(source, 'metric', 'selector'),
    }),
  resource: (source: PlainMap): PlainMap =>
    defined({
      name: source['name'],
      targetAverageUtilization: valueAt(source, 'target', 'averageUtilization'),
      targetAverageValue: valueAt(source, 'target', 'averageValue'),
    }),
  containerResource: (source: PlainMap): PlainMap =>
    defined({
      name: source['name'],
      targetAverageUtilization: valueAt(source, 'target', 'averageUtilization'),
      targetAverageValue: valueAt(source, 'target', 'averageValue'),
      container: source['container'],
    }),
  external: (source: PlainMap): PlainMap =>
    defined({
      metricName: valueAt(source, 'metric', 'name'),
      metricSelector: valueAt(source, 'metric', 'selector'),
      targetValue: valueAt(source, 'target', 'value'),
      targetAverageValue: valueAt(source, 'target', 'averageValue'),
    }),
};

const STATUS_TO_BETA2 = {
  object: ({ target: described, metricName, currentValue, selector, averageValue }: PlainMap): PlainMap => ({
    metric: identifier(metricName, selector),
    current: defined({ value: averageOnly(currentValue, averageValue), averageValue }),
    describedObject: described,
  }),
  pods: ({ metricName, currentAverageValue, selector }: PlainMap): PlainMap => ({
    metric: identifier(metricName, selector),
    current: defined({ averageValue: currentAverageValue }),
  }),
  resource: ({ name, currentAverageUtilization, currentAverageValue }: PlainMap): PlainMap => ({
    name,
    current: defined({ averageValue: currentAverageValue, averageUtilization: currentAverageUtilization }),
  }),
  containerResource: ({ name, container, currentAverageUtilization, currentAverageValue }: PlainMap): PlainMap => ({
    name,
    current: defined({ averageValue: currentAverageValue, averageUtilization: currentAverageUtilization }),
    container,
  }),
  external: ({ metricName, metricSelector, currentValue, currentAverageValue }: PlainMap): PlainMap => ({
    metric: identifier(metricName, metricSelector),
    current: defined({ value: averageOnly(currentValue, currentAverageValue), averageValue: currentAverageValue }),
  }),
};

const STATUS_FROM_BETA2 = {
  object: (source: PlainMap): PlainMap =>
    defined({
      target: source['describedObject'],
      metricName: valueAt(source, 'metric', 'name'),
      currentValue: valueAt(source, 'current', 'value') ?? '0',
      selector: valueAt(source, 'metric', 'selector'),
      averageValue: valueAt(source, 'current', 'averageValue'),
    }),
  pods: (source: PlainMap): PlainMap =>
    defined({
      metricName: valueAt(source, 'metric', 'name'),
      currentAverageValue: valueAt(source, 'current', 'averageValue') ?? '0',
      selector: valueAt(source, 'metric', 'selector'),
    }),
  resource: (source: PlainMap): PlainMap =>
    defined({
      name: source['name'],
      currentAverageUtilization: valueAt(source, 'current', 'averageUtilization'),
      currentAverageValue: valueAt(source, 'current', 'averageValue') ?? '0',
    }),
  containerResource: (source: PlainMap): PlainMap =>
    defined({
      name: source['name'],
      currentAverageUtilization: valueAt(source, 'current', 'averageUtilization'),
      currentAverageValue: valueAt(source, 'current', 'averageValue') ?? '0',
      container: source['container'],
    }),
  external: (source: PlainMap): PlainMap =>
    defined({
      metricName: valueAt(source, 'metric', 'name'),
      metricSelector: valueAt(source, 'metric', 'selector'),
      currentValue: valueAt(source, 'current', 'value') ?? '0',
      currentAverageValue: valueAt(source, 'current', 'averageValue'),
    }),
};

type Converters = Readonly<Record<string, (source: PlainMap) => PlainMap>>;

function convertList(metrics: readonly unknown[], converters: Converters): readonly PlainMap[] {
  return metrics.map((metric) => convertSource(isPlainMap(metric) ? metric : {}, converters));
}

/** Metrics of a v2beta1 spec (or of v1's annotation, which has the same form) as v2beta2 has them. */
export function metricsFromV2beta1(metrics: readonly unknown[]): readonly PlainMap[] {
  return convertList(metrics, SPEC_TO_BETA2);
}

export function metricsToV2beta1(metrics: readonly unknown[]): readonly PlainMap[] {
  return convertList(metrics, SPEC_FROM_BETA2);
}

export function metricStatusesFromV2beta1(metrics: readonly unknown[]): readonly PlainMap[] {
  return convertList(metrics, STATUS_TO_BETA2);
}

export function metricStatusesToV2beta1(metrics: readonly unknown[]): readonly PlainMap[] {
  return convertList(metrics, STATUS_FROM_BETA2);
}

function convertMetrics(object: KubeObject, spec: Converters, status: Converters): KubeObject {
  const metrics = valueAt(object, 'spec', 'metrics');
  const current = valueAt(object, 'status', 'currentMetrics');
  const withSpec = Array.isArray(metrics)
    ? withFields(object, 'spec', { metrics: convertList(listAt(object, 'spec', 'metrics'), spec) })
    : object;
  return Array.isArray(current)
    ? withFields(withSpec, 'status', {
        currentMetrics: convertList(listAt(object, 'status', 'currentMetrics'), status),
      })
    : withSpec;
}

export function autoscalerFromV2beta1(object: KubeObject): KubeObject {
  const converted = convertMetrics(object, SPEC_TO_BETA2, STATUS_TO_BETA2);
  const behavior = readBehavior(object);
  return withoutAnnotations(behavior === undefined ? converted : withFields(converted, 'spec', { behavior }), [
    BEHAVIOR_ANNOTATION,
  ]);
}

export function autoscalerToV2beta1(object: KubeObject): KubeObject {
  const { behavior, ...spec } = mapAt(object, 'spec');
  const converted = convertMetrics({ ...object, spec }, SPEC_FROM_BETA2, STATUS_FROM_BETA2);
  return isPlainMap(behavior) ? withAnnotation(converted, BEHAVIOR_ANNOTATION, writeBehavior(behavior)) : converted;
}
