import type { KubeObject } from '../object';
import { isBestEffort, podResources } from './pod-resources';

/** One condition on the objects that a quota counts (spec, ResourceQuota scopes). */
export interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** The scopes of a quota: the short form, and the selector. */
export function scopesOf(quota: KubeObject): readonly ScopeRequirement[] {
  const spec = (quota.spec ?? {}) as {
    readonly scopes?: readonly string[];
    readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeRequirement[] };
  };
  return [
    ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec.scopeSelector?.matchExpressions ?? []),
  ];
}

function matchesPriorityClass({ operator, values = [] }: ScopeRequirement, name: string): boolean {
  switch (operator) {
    case 'In':
      return name !== '' && values.includes(name);
    case 'NotIn':
      return !values.includes(name);
    case 'DoesNotExist':
      return name === '';
    default:
      return name !== '';
  }
}

/** A pod's affinity speaks of pods in other namespaces. */
function crossesNamespaces(affinity: Readonly<Record<string, unknown>> | undefined): boolean {
  interface Term {
    readonly namespaces?: readonly string[];
    readonly namespaceSelector?: object;
    readonly podAffinityTerm?: Term;
  }
  return ['podAffinity', 'podAntiAffinity'].some((sort) =>
    Object.values((affinity?.[sort] ?? {}) as Record<string, readonly Term[]>)
      .flat()
      .map((term) => term.podAffinityTerm ?? term)
      .some(({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined),
  );
}

/** Whether a pod is within the scope; scopes that are not known hold nothing. */
export function podMatchesScope(pod: KubeObject, scope: ScopeRequirement): boolean {
  const spec = podResources(pod);
  switch (scope.scopeName) {
    case 'Terminating':
      return (spec.activeDeadlineSeconds ?? -1) >= 0;
    case 'NotTerminating':
      return (spec.activeDeadlineSeconds ?? -1) < 0;
    case 'BestEffort':
      return isBestEffort(spec);
    case 'NotBestEffort':
      return !isBestEffort(spec);
    case 'PriorityClass':
      return matchesPriorityClass(scope, spec.priorityClassName ?? '');
    case 'CrossNamespacePodAffinity':
      return crossesNamespaces(spec.affinity);
    default:
      return false;
  }
}
