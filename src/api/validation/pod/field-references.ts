import { invalid, notSupported, required, type FieldError } from '../../errors/field-error';
import { parseQuantity } from '../../quantity/quantity';
import type { ObjectFieldSelector, ResourceFieldSelector } from '../../schema/generated/core-v1';
import { qualifiedNameProblems } from '../label-syntax';
import { invalidBecause } from './field-rules';

/** References of a container to fields of its own pod and to resources (downward API). */

const IDENTITY = ['metadata.name', 'metadata.namespace', 'metadata.uid'] as const;
const MAPS = ['metadata.annotations', 'metadata.labels'] as const;

/** What environment variables can show. Sorted: messages list it. */
export const ENV_FIELDS: readonly string[] = [
  ...IDENTITY,
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
];
/** What files can show. */
export const FILE_FIELDS: readonly string[] = [...MAPS, ...IDENTITY];

/** Every field that a pod's selectors know, whether or not it can be shown. */
const KNOWN_FIELDS = new Set<string>([
  ...MAPS,
  ...ENV_FIELDS,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.hostIPs',
  'status.phase',
]);
/** Came after the others and stands in no message. */
const LATER_ENV_FIELDS = ['status.hostIPs'];

interface Subscripted {
  readonly path: string;
  readonly key: string;
}

/** `metadata.labels['app']`. */
function splitSubscript(path: string): Subscripted | undefined {
  const [, name, key] = /^([^[]+)\['(.*)'\]$/.exec(path) ?? [];
  return name === undefined || key === undefined ? undefined : { path: name, key };
}

function isMap(path: string): boolean {
  return (MAPS as readonly string[]).includes(path);
}

/** Why the path is none in this version of pods; undefined when it is one. */
function conversionProblem(version: string, fieldPath: string): string | undefined {
  if (version !== 'v1') return `unsupported pod version: ${version}`;
  const subscripted = splitSubscript(fieldPath);
  if (subscripted !== undefined) {
    return isMap(subscripted.path) ? undefined : `field label does not support subscript: ${fieldPath}`;
  }
  return KNOWN_FIELDS.has(fieldPath) || fieldPath === 'spec.host'
    ? undefined
    : `field label not supported: ${fieldPath}`;
}

/** `supported`: the fields that can be shown in this place. */
export function validateFieldRef(
  { apiVersion = '', fieldPath = '' }: ObjectFieldSelector,
  supported: readonly string[],
  path: string,
): readonly FieldError[] {
  if (apiVersion === '') return [required(`${path}.apiVersion`, '')];
  if (fieldPath === '') return [required(`${path}.fieldPath`, '')];
  const problem = conversionProblem(apiVersion, fieldPath);
  if (problem !== undefined) {
    return [invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${problem}`)];
  }
  const subscripted = splitSubscript(fieldPath);
  if (subscripted !== undefined) {
    // Keys of annotations may be in upper case throughout.
    const { key } = subscripted;
    const checked = subscripted.path === 'metadata.annotations' ? key.toLowerCase() : key;
    return invalidBecause(path, key, qualifiedNameProblems(checked));
  }
  const shown = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (supported.includes(shown) || (supported === ENV_FIELDS && LATER_ENV_FIELDS.includes(shown))) return [];
  return [notSupported(`${path}.fieldPath`, shown, supported)];
}

const RESOURCES = ['cpu', 'ephemeral-storage', 'memory'];
const RESOURCE_FIELDS = ['limits', 'requests'].flatMap((kind) => RESOURCES.map((name) => `${kind}.${name}`));
const HUGE_PAGE_FIELDS = /^(limits|requests)\.hugepages-/;

export function isHugePageField(resource: string): boolean {
  return HUGE_PAGE_FIELDS.test(resource);
}

const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

interface DivisorRule {
  readonly divisors: readonly string[];
  readonly detail: string;
}

function byteDivisors(resource: string): DivisorRule {
  const detail = `only divisor's values ${BYTE_DIVISORS.join(', ')} are supported with the ${resource} resource`;
  return { divisors: BYTE_DIVISORS, detail };
}

const DIVISORS: ReadonlyMap<string, DivisorRule> = new Map(
  Object.entries({
    cpu: { divisors: ['1', '1m'], detail: "only divisor's values 1m and 1 are supported with the cpu resource" },
    memory: byteDivisors('memory'),
    'ephemeral-storage': byteDivisors('local ephemeral storage'),
  }),
);
const HUGE_PAGE_DIVISORS = byteDivisors('hugepages');

function validateDivisor({ resource = '', divisor }: ResourceFieldSelector, path: string): readonly FieldError[] {
  const rule = isHugePageField(resource) ? HUGE_PAGE_DIVISORS : DIVISORS.get(resource.slice(resource.indexOf('.') + 1));
  if (divisor === undefined || parseQuantity(divisor).nanos === 0n || rule === undefined) return [];
  return rule.divisors.includes(divisor) ? [] : [invalid(`${path}.divisor`, resource, rule.detail)];
}

/** `path`: of the selector. */
export function unsupportedResourceField(resource: string, path: string): FieldError {
  return notSupported(`${path}.resource`, resource, RESOURCE_FIELDS);
}

/** `inFile`: files have to name the container that they tell of. */
export function validateResourceFieldRef(
  selector: ResourceFieldSelector,
  inFile: boolean,
  path: string,
): readonly FieldError[] {
  const { containerName = '', resource = '' } = selector;
  const errors: FieldError[] = [];
  if (inFile && containerName === '') errors.push(required(`${path}.containerName`, ''));
  else if (resource === '') errors.push(required(`${path}.resource`, ''));
  else if (!RESOURCE_FIELDS.includes(resource) && !isHugePageField(resource)) {
    errors.push(unsupportedResourceField(resource, path));
  }
  return [...errors, ...validateDivisor(selector, path)];
}
