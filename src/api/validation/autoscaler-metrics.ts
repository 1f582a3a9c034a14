import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { isPlainMap, stringAt, valueAt, type PlainMap } from '../kinds/field-values';
import type { RequestedVersion } from '../kinds/kind-definition';
import { parseQuantity } from '../quantity/quantity';
import type { MetricIdentifier, MetricSpec, MetricTarget } from '../schema/generated/autoscaling-v2';
import { invalidLiteral } from './go-literal';
import { pathSegmentName } from './names';
import { ABSENT_QUANTITY, quantityLiteral } from './pod/quantity-literal';
import { checkEach } from './check-each';

/** The field of each type of metric, in the order in which they are checked. */
const SOURCES = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
} as const;
const TYPES = Object.keys(SOURCES).sort();
const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];

function isPositive(quantity: string): boolean {
  return parseQuantity(quantity).nanos > 0n;
}

/** How a quantity is shown, which depends on the version that was sent. */
type Print = (quantity: string) => string;

function validateTarget(target: MetricTarget, path: string, print: Print): readonly FieldError[] {
  const { type = '', averageUtilization } = target;
  return [
    ...(type === '' ? [required(`${path}.type`, 'must specify a metric target type')] : []),
    ...(TARGET_TYPES.includes(type)
      ? []
      : [invalid(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue')]),
    ...(['value', 'averageValue'] as const).flatMap((field) => {
      const quantity = target[field];
      return quantity === undefined || isPositive(quantity)
        ? []
        : [invalidLiteral(`${path}.${field}`, print(quantity), 'must be positive')];
    }),
    ...(averageUtilization !== undefined && averageUtilization < 1
      ? [invalid(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0')]
      : []),
  ];
}

function validateIdentifier({ name = '' }: MetricIdentifier, path: string): readonly FieldError[] {
  if (name === '') return [required(`${path}.name`, 'must specify a metric name')];
  return pathSegmentName(name, false).map((problem) => invalid(`${path}.name`, name, problem));
}

function validateDescribedObject(reference: unknown, path: string): readonly FieldError[] {
  return ['kind', 'name'].flatMap((field) => {
    const value = stringAt(reference, field);
    if (value === '') return [required(`${path}.${field}`, '')];
    return pathSegmentName(value, false).map((problem) => invalid(`${path}.${field}`, value, problem));
  });
}

type SourceRule = (source: PlainMap, path: string, print: Print) => readonly FieldError[];

function targetOf(source: PlainMap): MetricTarget {
  return valueAt(source, 'target') ?? {};
}

function validateMetricAndTarget(source: PlainMap, path: string, print: Print): readonly FieldError[] {
  return [
    ...validateIdentifier(source['metric'] ?? {}, `${path}.metric`),
    ...validateTarget(targetOf(source), `${path}.target`, print),
  ];
}

/** The use of a resource, raw or in percent: one of the two. */
const validateResource: SourceRule = (source, path, print) => {
  const { averageUtilization, averageValue } = targetOf(source);
  const neither = averageUtilization === undefined && averageValue === undefined;
  const both = averageUtilization !== undefined && averageValue !== undefined;
  return [
    ...validateTarget(targetOf(source), `${path}.target`, print),
    ...(neither
      ? [required(`${path}.target.averageUtilization`, 'must set either a target raw value or a target utilization')]
      : []),
    ...(both
      ? [forbiddenField(`${path}.target.averageValue`, 'may not set both a target raw value and a target utilization')]
      : []),
  ];
};

function present(source: PlainMap, field: string, path: string, what: string): readonly FieldError[] {
  return stringAt(source, field) === '' ? [required(`${path}.${field}`, `must specify a ${what} name`)] : [];
}

const SOURCE_RULES: Readonly<Record<string, SourceRule>> = {
  object: (source, path, print) => {
    const { value, averageValue } = targetOf(source);
    return [
      ...validateDescribedObject(source['describedObject'], `${path}.describedObject`),
      ...validateMetricAndTarget(source, path, print),
      ...(value === undefined && averageValue === undefined
        ? [required(`${path}.target.averageValue`, 'must set either a target value or averageValue')]
        : []),
    ];
  },
  external: (source, path, print) => {
    const { value, averageValue } = targetOf(source);
    return [
      ...validateMetricAndTarget(source, path, print),
      ...(value === undefined && averageValue === undefined
        ? [required(`${path}.target.averageValue`, 'must set either a target value for metric or a per-pod target')]
        : []),
      ...(value !== undefined && averageValue !== undefined
        ? [forbiddenField(`${path}.target.value`, 'may not set both a target value for metric and a per-pod target')]
        : []),
    ];
  },
  pods: (source, path, print) => {
    const { averageValue } = targetOf(source);
    return [
      ...validateMetricAndTarget(source, path, print),
      ...(averageValue === undefined
        ? [required(`${path}.target.averageValue`, 'must specify a positive target averageValue')]
        : []),
    ];
  },
  resource: (source, path, print) => [
    ...present(source, 'name', path, 'resource'),
    ...validateResource(source, path, print),
  ],
  containerResource: (source, path, print) => [
    ...present(source, 'name', path, 'resource'),
    ...present(source, 'container', path, 'container'),
    ...validateResource(source, path, print),
  ],
};

/** The type names one source; only the first source that is there is looked into, the others are too many. */
function validateMetric(metric: MetricSpec, path: string, print: Print): readonly FieldError[] {
  const { type = '' } = metric;
  const sources = metric as PlainMap;
  const [first, ...others] = Object.values(SOURCES).filter((field) => isPlainMap(sources[field]));
  const expected = Object.hasOwn(SOURCES, type) ? SOURCES[type as keyof typeof SOURCES] : undefined;
  const unknown = expected === undefined ? [notSupported(`${path}.type`, type, TYPES)] : [];
  const tooMany = others.length === 0 ? [] : [first, ...others].filter((field) => field !== expected);
  return [
    ...(type === '' ? [required(`${path}.type`, 'must specify a metric source type')] : []),
    ...unknown,
    ...(first === undefined
      ? []
      : (SOURCE_RULES[first]?.(sources[first] as PlainMap, `${path}.${first}`, print) ?? [])),
    // An unknown type is reported by two rules.
    ...unknown,
    ...(expected !== undefined && !isPlainMap(sources[expected])
      ? [required(`${path}.${expected}`, 'must populate information for the given metric source')]
      : []),
    ...tooMany.map((field) => forbiddenField(`${path}.${String(field)}`, 'must populate the given metric source only')),
  ];
}

/** v2beta1 cannot leave a quantity out, so that there a zero is nearly always one that was not given. */
function printV2beta1(quantity: string): string {
  return quantity === '0' ? ABSENT_QUANTITY : quantityLiteral(quantity);
}

export function validateMetrics(
  metrics: readonly MetricSpec[],
  path: string,
  requested?: RequestedVersion,
): readonly FieldError[] {
  const print = requested?.version === 'v2beta1' ? printV2beta1 : quantityLiteral;
  return checkEach(metrics, (metric, index) => validateMetric(metric, `${path}[${index}]`, print));
}
