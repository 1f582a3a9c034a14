import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { booleanAt, numberAt, valueAt } from '../kinds/field-values';
import type { KubeObject } from '../object';

const SYSTEM_PREFIX = 'system-';
const HIGHEST_USER_VALUE = 1_000_000_000;
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'] as const;

/** The classes of the system; they alone have its prefix and values above the users' highest. */
export const SYSTEM_PRIORITY_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

/** What sets a class with the system's prefix apart from the system's own; undefined when nothing does. */
function systemProblem(name: string, object: KubeObject): string | undefined {
  const value = Object.hasOwn(SYSTEM_PRIORITY_CLASSES, name) ? SYSTEM_PRIORITY_CLASSES[name] : undefined;
  if (value === undefined) return `${name} is not a known system priority class`;
  if (numberAt(object, 'value') !== value) return `value of ${name} PriorityClass must be ${value}`;
  return booleanAt(object, 'globalDefault') ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validateNameAndValue(object: KubeObject): readonly FieldError[] {
  const name = object.metadata.name ?? '';
  if (name.startsWith(SYSTEM_PREFIX)) {
    const problem = systemProblem(name, object);
    const rule = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only`;
    return problem === undefined ? [] : [forbiddenField('metadata.name', `${rule}. error: ${problem}`)];
  }
  return numberAt(object, 'value') > HIGHEST_USER_VALUE
    ? [forbiddenField('value', `maximum allowed value of a user defined priority is ${HIGHEST_USER_VALUE}`)]
    : [];
}

function validatePreemptionPolicy(policy: unknown): readonly FieldError[] {
  if (typeof policy !== 'string' || (PREEMPTION_POLICIES as readonly string[]).includes(policy)) return [];
  return policy === ''
    ? [required('preemptionPolicy', '')]
    : [notSupported('preemptionPolicy', policy, PREEMPTION_POLICIES)];
}

export function validatePriorityClass(object: KubeObject): readonly FieldError[] {
  return [...validateNameAndValue(object), ...validatePreemptionPolicy(object['preemptionPolicy'])];
}

/** What pods were admitted with cannot change under them. */
export function validatePriorityClassUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const policy = valueAt(object, 'preemptionPolicy');
  return [
    ...(numberAt(object, 'value') === numberAt(old, 'value')
      ? []
      : [forbiddenField('Value', 'may not be changed in an update.')]),
    ...(policy === valueAt(old, 'preemptionPolicy') ? [] : [invalid('preemptionPolicy', policy, 'field is immutable')]),
  ];
}
