import { invalid, required, type FieldError } from '../errors/field-error';
import { shownPart } from '../errors/shown-value';
import type { KubeObject } from '../object';
import { keysOf } from '../parts';
import type {
  ResourceQuotaSpec,
  ResourceQuotaStatus,
  ScopedResourceSelectorRequirement,
} from '../schema/generated/core-v1';
import { checkAfter, checkEach } from './check-each';
import { invalidLiteral, once, stringListLiteral } from './go-literal';
import { isHugePageResource, validateResourceName } from './pod/resource-names';
import { validateResourceQuantity } from './pod/resources';

const COMPUTE = ['cpu', 'memory'];
const COMPUTE_OF_PODS = new Set([
  ...COMPUTE,
  ...COMPUTE.map((name) => `requests.${name}`),
  ...COMPUTE.map((name) => `limits.${name}`),
]);
const STANDARD = new Set([
  ...COMPUTE_OF_PODS,
  'ephemeral-storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
  'requests.storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

function isStandardQuotaResource(name: string): boolean {
  return STANDARD.has(name) || isHugePageResource(name) || name.startsWith('requests.hugepages-');
}

function validateQuotaResourceName(name: string, field: string): readonly FieldError[] {
  const errors = validateResourceName(name, field);
  return name.includes('/') || isStandardQuotaResource(name)
    ? errors
    : [...errors, invalid(field, name, 'must be a standard resource for quota')];
}

function validateAmounts(amounts: Readonly<Record<string, string>> | undefined, path: string): readonly FieldError[] {
  if (amounts === undefined) return [];
  return checkEach(keysOf(amounts), (name) => [
    ...validateQuotaResourceName(name, `${path}[${name}]`),
    ...validateResourceQuantity(name, amounts[name] ?? '', `${path}[${name}]`),
  ]);
}

/** What the quota of a scope may count: of best-effort pods their number alone, of others also what they compute with. */
const SCOPES: Readonly<Record<string, (resource: string) => boolean>> = {
  Terminating: isOfPods,
  NotTerminating: isOfPods,
  BestEffort: (resource) => resource === 'pods',
  NotBestEffort: isOfPods,
  PriorityClass: isOfPods,
  CrossNamespacePodAffinity: isOfPods,
};
/** Scopes that a pod is in or not, so that a selector can only ask whether. */
const PLAIN_SCOPES = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];
const CONFLICTING = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

function isOfPods(resource: string): boolean {
  return resource === 'pods' || COMPUTE_OF_PODS.has(resource);
}

/**
 * One problem for each resource that a scope cannot count; `literal` shows the value at `path`. A scope may be named thousands of times:
 * `known` has the resources that the scopes before could not count, which are looked through once for each scope that there is.
 */
function checkCoverage(
  scope: string,
  { hard = {} }: ResourceQuotaSpec,
  path: string,
  literal: () => string,
  known: Map<string, string[]>,
): readonly FieldError[] {
  const covers = Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined;
  if (covers === undefined) return [];
  const unsupported = (): FieldError => invalidLiteral(path, literal(), 'unsupported scope applied to resource');
  const before = known.get(scope);
  if (before !== undefined) return checkAfter(() => checkEach(before, () => [unsupported()]));
  const found: string[] = [];
  known.set(scope, found);
  return checkEach(keysOf(hard), (resource) => {
    if (!isStandardQuotaResource(resource) || covers(resource)) return [];
    found.push(resource);
    return [unsupported()];
  });
}

function conflicts(scopes: readonly string[]): number {
  return CONFLICTING.filter((pair) => pair.every((scope) => scopes.includes(scope))).length;
}

function scopesLiteral(scopes: readonly string[] | undefined): string {
  return stringListLiteral('[]core.ResourceQuotaScope', scopes);
}

function validateScopes(spec: ResourceQuotaSpec, path: string): readonly FieldError[] {
  const { scopes = [] } = spec;
  const literal = once(() => scopesLiteral(scopes));
  const known = new Map<string, string[]>();
  return [
    ...checkEach(scopes, (scope) => [
      ...(Object.hasOwn(SCOPES, scope) ? [] : [invalidLiteral(path, literal(), 'unsupported scope')]),
      ...checkCoverage(scope, spec, path, literal, known),
    ]),
    ...Array.from({ length: conflicts(scopes) }, () => invalidLiteral(path, literal(), 'conflicting scopes')),
  ];
}

function requirementLiteral({ scopeName, operator, values }: ScopedResourceSelectorRequirement): string {
  const list = stringListLiteral('[]string', values);
  return `core.ScopedResourceSelectorRequirement{ScopeName:${JSON.stringify(scopeName ?? '')}, Operator:${JSON.stringify(operator ?? '')}, Values:${list}}`;
}

function selectorLiteral(requirements: readonly ScopedResourceSelectorRequirement[]): string {
  const list = shownPart(requirements).map(requirementLiteral).join(', ');
  return `core.ScopeSelector{MatchExpressions:[]core.ScopedResourceSelectorRequirement{${list}}}`;
}

function validateOperator(
  { scopeName = '', operator = '', values = [] }: ScopedResourceSelectorRequirement,
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (PLAIN_SCOPES.includes(scopeName) && operator !== 'Exists') {
    errors.push(
      invalid(
        `${path}.operator`,
        operator,
        "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, " +
          'ResourceQuotaScopeBestEffort and ResourceQuotaScopeNotBestEffort',
      ),
    );
  }
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
        errors.push(required(`${path}.values`, detail));
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
        errors.push(invalidLiteral(`${path}.values`, stringListLiteral('[]string', values), detail));
      }
      break;
    default:
      errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  }
  return errors;
}

function validateScopeSelector(spec: ResourceQuotaSpec, path: string): readonly FieldError[] {
  const requirements = spec.scopeSelector?.matchExpressions ?? [];
  const literal = once(() => selectorLiteral(requirements));
  const scopes = requirements.map(({ scopeName = '' }) => scopeName);
  const known = new Map<string, string[]>();
  return [
    ...checkEach(requirements, (requirement) => {
      const { scopeName = '' } = requirement;
      return [
        ...(Object.hasOwn(SCOPES, scopeName) ? [] : [invalid(`${path}.scopeName`, scopeName, 'unsupported scope')]),
        ...checkCoverage(scopeName, spec, path, literal, known),
        ...validateOperator(requirement, path),
      ];
    }),
    ...Array.from({ length: conflicts(scopes) }, () =>
      invalidLiteral(path, scopesLiteral(spec.scopes), 'conflicting scopes'),
    ),
  ];
}

/** All problems of a quota's spec. */
export function validateResourceQuota(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as ResourceQuotaSpec;
  return [
    ...validateAmounts(spec.hard, 'spec.hard'),
    ...validateScopes(spec, 'spec.scopes'),
    ...validateScopeSelector(spec, 'spec.scopeSelector.matchExpressions'),
  ];
}

const CROSS_NAMESPACE_AFFINITY = 'CrossNamespacePodAffinity';

/** Without the gate PodAffinityNamespaceSelector there is no scope of pods with affinity across namespaces. */
export function validateNoCrossNamespaceScope(object: KubeObject): readonly FieldError[] {
  const { scopes = [], scopeSelector } = (object['spec'] ?? {}) as ResourceQuotaSpec;
  return [
    ...checkEach(scopes, (scope) =>
      scope === CROSS_NAMESPACE_AFFINITY
        ? [invalidLiteral('spec.scopes', scopesLiteral(scopes), 'unsupported scope')]
        : [],
    ),
    ...checkEach(scopeSelector?.matchExpressions, ({ scopeName }) =>
      scopeName === CROSS_NAMESPACE_AFFINITY
        ? [invalid('spec.scopeSelector.matchExpressions.scopeName', CROSS_NAMESPACE_AFFINITY, 'unsupported scope')]
        : [],
    ),
  ];
}

/** What a quota counts within stays: the counts so far would be wrong for other scopes. */
export function validateResourceQuotaUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const { scopes = [] } = (object['spec'] ?? {}) as ResourceQuotaSpec;
  const { scopes: oldScopes = [] } = (old['spec'] ?? {}) as ResourceQuotaSpec;
  const [now, before] = [new Set(scopes), new Set(oldScopes)];
  const same = scopes.every((scope) => before.has(scope)) && oldScopes.every((scope) => now.has(scope));
  const errors = validateResourceQuota(object);
  return [
    // An update checks the spec once as any quota's and once as what may have changed.
    ...errors,
    ...errors,
    ...(same ? [] : [invalidLiteral('spec.scopes', scopesLiteral(scopes), 'field is immutable')]),
  ];
}

export function validateResourceQuotaStatusUpdate(object: KubeObject): readonly FieldError[] {
  const status = (object['status'] ?? {}) as ResourceQuotaStatus;
  return [...validateAmounts(status.hard, 'status.hard'), ...validateAmounts(status.used, 'status.used')];
}
