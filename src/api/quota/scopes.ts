import type { KubeObject } from '../object';
import type { Steps } from '../parts';
import { isPauseDue } from '../steps/pace';
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

interface Term {
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: object;
  readonly podAffinityTerm?: Term;
}

/** A pod's affinity speaks of pods in other namespaces. */
function* crossesNamespaces(affinity: Readonly<Record<string, unknown>> | undefined): Steps<boolean> {
  for (const sort of ['podAffinity', 'podAntiAffinity']) {
    for (const terms of Object.values((affinity?.[sort] ?? {}) as Record<string, readonly Term[]>)) {
      for (const term of terms) {
        if (isPauseDue()) yield;
        const { namespaces = [], namespaceSelector } = term.podAffinityTerm ?? term;
        if (namespaces.length > 0 || namespaceSelector !== undefined) return true;
      }
    }
  }
  return false;
}

/** Whether a pod is within the scope; scopes that are not known hold nothing. */
export function* podMatchesScope(pod: KubeObject, scope: ScopeRequirement): Steps<boolean> {
  const spec = podResources(pod);
  switch (scope.scopeName) {
    case 'Terminating':
      return (spec.activeDeadlineSeconds ?? -1) >= 0;
    case 'NotTerminating':
      return (spec.activeDeadlineSeconds ?? -1) < 0;
    case 'BestEffort':
      return yield* isBestEffort(spec);
    case 'NotBestEffort':
      return !(yield* isBestEffort(spec));
    case 'PriorityClass':
      return matchesPriorityClass(scope, spec.priorityClassName ?? '');
    case 'CrossNamespacePodAffinity':
      return yield* crossesNamespaces(spec.affinity);
    default:
      return false;
  }
}
