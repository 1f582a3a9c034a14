import { invalid, type FieldError } from '../../errors/field-error';
import { qualifiedNameProblems } from '../label-syntax';
import { invalidBecause } from './field-rules';

/** Names of resources that are counted: cpu and memory, huge pages, and what device plugins bring ("extended"). */

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const OBJECTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const STANDARD = new Set([
  ...COMPUTE,
  ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...OBJECTS,
  'storage',
  'requests.storage',
]);
const CONTAINER = new Set(COMPUTE);
const WHOLE_NUMBERS = new Set(OBJECTS);

const HUGE_PAGES = 'hugepages-';
const REQUESTS = 'requests.';

export function isHugePageResource(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Kubernetes' own: without a domain, or with its domain. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Another domain's, short enough to be prefixed in a quota. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith(REQUESTS)) return false;
  return qualifiedNameProblems(`${REQUESTS}${name}`).length === 0;
}

/** More of it may be promised than there is, so that limits may exceed requests. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePageResource(name);
}

/** Counted in whole numbers. */
export function isIntegerResource(name: string): boolean {
  return WHOLE_NUMBERS.has(name) || isExtendedResource(name);
}

function isStandardResource(name: string): boolean {
  return STANDARD.has(name) || isHugePageResource(name) || name.startsWith(`${REQUESTS}${HUGE_PAGES}`);
}

/** A name that any list of resources may have. */
export function validateResourceName(name: string, field: string): readonly FieldError[] {
  const problems = invalidBecause(field, name, qualifiedNameProblems(name));
  if (problems.length > 0 || name.includes('/') || isStandardResource(name)) return problems;
  return [invalid(field, name, 'must be a standard resource type or fully qualified')];
}

/** A name that containers may ask for. */
export function validateContainerResourceName(name: string, field: string): readonly FieldError[] {
  const errors = validateResourceName(name, field);
  if (!name.includes('/')) {
    return CONTAINER.has(name) || isHugePageResource(name)
      ? errors
      : [...errors, invalid(field, name, 'must be a standard resource for containers')];
  }
  return isNativeResource(name) || isExtendedResource(name)
    ? errors
    : [...errors, invalid(field, name, "doesn't follow extended resource name standard")];
}
