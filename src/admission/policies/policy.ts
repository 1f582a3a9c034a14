import { policyVariables, withVariables } from '../../api/cel/admission-environment';
import { compileExpression } from '../../api/cel/compile-expression';
import type { Program } from '../../api/cel/evaluate';
import type { Type } from '../../api/cel/types';
import type { KubeObject } from '../../api/object';
import { compileConditions, type CompiledConditions, type MatchCondition } from '../cel/match-conditions';
import { compileMatcher, type MatchResources, type ResourceMatcher } from '../rules/match-resources';

/** The spec of a ValidatingAdmissionPolicy. */
export interface PolicySpec {
  readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string } | null;
  readonly matchConstraints?: MatchResources | null;
  readonly validations?: readonly ValidationSpec[];
  readonly failurePolicy?: string | null;
  readonly auditAnnotations?: readonly { readonly key?: string; readonly valueExpression?: string }[];
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly { readonly name?: string; readonly expression?: string }[];
}

export interface ValidationSpec {
  readonly expression?: string;
  readonly message?: string;
  readonly reason?: string | null;
  readonly messageExpression?: string;
}

export interface Policy {
  readonly name: string;
  readonly matcher: ResourceMatcher;
  readonly failsClosed: boolean;
  readonly paramKind: PolicySpec['paramKind'];
  /** Why it cannot be evaluated; the rest is empty then. */
  readonly problem: string | undefined;
  readonly conditions: CompiledConditions | undefined;
  readonly variables: readonly (readonly [name: string, program: Program])[];
  readonly validations: readonly Validation[];
  readonly auditAnnotations: readonly AuditAnnotation[];
}

interface AuditAnnotation {
  readonly key: string;
  readonly expression: string;
  readonly program: Program;
}

export interface Validation {
  readonly spec: ValidationSpec;
  readonly program: Program;
  readonly message: Program | undefined;
}

export function compilePolicy(policy: KubeObject): Policy {
  const spec = (policy['spec'] ?? {}) as PolicySpec;
  const common = {
    name: policy.metadata.name ?? '',
    matcher: compileMatcher(spec.matchConstraints ?? {}, true),
    failsClosed: spec.failurePolicy !== 'Ignore',
    paramKind: spec.paramKind,
  };
  try {
    return { ...common, problem: undefined, ...compileExpressions(spec) };
  } catch (error) {
    if (!(error instanceof Error && error.name === 'CelSyntaxError')) throw error;
    const nothing = { conditions: undefined, variables: [], validations: [], auditAnnotations: [] };
    return { ...common, problem: `compilation failed: ${error.message}`, ...nothing };
  }
}

function compileExpressions(spec: PolicySpec) {
  const { matchConditions = [], validations = [], auditAnnotations = [] } = spec;
  const base = policyVariables(spec.paramKind);
  const known = new Map<string, Type>();
  const variables = (spec.variables ?? []).map(({ name = '', expression = '' }) => {
    const program = compileExpression(expression, withVariables(base, new Map(known)));
    known.set(name, program.checked.type);
    return [name, program] as const;
  });
  const all = withVariables(base, known);
  return {
    conditions: matchConditions.length === 0 ? undefined : compileConditions(matchConditions, base),
    variables,
    validations: validations.map((one): Validation => {
      const { expression = '', messageExpression = '' } = one;
      return {
        spec: one,
        program: compileExpression(expression, all),
        message: messageExpression === '' ? undefined : compileExpression(messageExpression, all),
      };
    }),
    auditAnnotations: auditAnnotations.map(({ key = '', valueExpression = '' }): AuditAnnotation => {
      return { key, expression: valueExpression, program: compileExpression(valueExpression, all) };
    }),
  };
}
