import { policyVariables, withVariables } from '../../api/cel/admission-environment';
import { compileSteps } from '../../api/cel/compile-expression';
import type { Program } from '../../api/cel/evaluate';
import type { Type } from '../../api/cel/types';
import type { MaybePromise } from '../../api/maybe-promise';
import type { KubeObject } from '../../api/object';
import type { Steps } from '../../api/parts';
import { runSteps } from '../../async/steps';
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
  /** Compiled when they are first needed, and in steps: a policy may have many, and long ones. */
  readonly programs: () => MaybePromise<PolicyPrograms>;
}

export interface PolicyPrograms {
  /** Why the policy cannot be evaluated; the rest is empty then. */
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

/** `compiled` hears how long the expressions took. */
export function compilePolicy(policy: KubeObject, compiled: (seconds: number) => void): Policy {
  const spec = (policy['spec'] ?? {}) as PolicySpec;
  let programs: MaybePromise<PolicyPrograms> | undefined;
  const compile = async (): Promise<PolicyPrograms> => {
    const start = performance.now();
    programs = await runSteps(compileOrFail(spec), 'compiling a policy');
    compiled((performance.now() - start) / 1000);
    return programs;
  };
  return {
    name: policy.metadata.name ?? '',
    matcher: compileMatcher(spec.matchConstraints ?? {}, true),
    failsClosed: spec.failurePolicy !== 'Ignore',
    paramKind: spec.paramKind,
    programs: () => (programs ??= compile()),
  };
}

function* compileOrFail(spec: PolicySpec): Steps<PolicyPrograms> {
  try {
    return yield* compileExpressions(spec);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'CelSyntaxError')) throw error;
    const problem = `compilation failed: ${error.message}`;
    return { problem, conditions: undefined, variables: [], validations: [], auditAnnotations: [] };
  }
}

function* compileExpressions(spec: PolicySpec): Steps<PolicyPrograms> {
  const { matchConditions = [] } = spec;
  const base = policyVariables(spec.paramKind);
  const known = new Map<string, Type>();
  const all = withVariables(base, known);
  const variables: (readonly [string, Program])[] = [];
  for (const { name = '', expression = '' } of spec.variables ?? []) {
    const program = yield* compileSteps(expression, all);
    known.set(name, program.checked.type);
    variables.push([name, program]);
    yield;
  }
  const conditions = matchConditions.length === 0 ? undefined : yield* compileConditions(matchConditions, base);
  const validations: Validation[] = [];
  for (const one of spec.validations ?? []) {
    const { expression = '', messageExpression = '' } = one;
    const program = yield* compileSteps(expression, all);
    yield;
    const message = messageExpression === '' ? undefined : yield* compileSteps(messageExpression, all);
    validations.push({ spec: one, program, message });
    yield;
  }
  const auditAnnotations: AuditAnnotation[] = [];
  for (const { key = '', valueExpression: expression = '' } of spec.auditAnnotations ?? []) {
    auditAnnotations.push({ key, expression, program: yield* compileSteps(expression, all) });
    yield;
  }
  return { problem: undefined, conditions, variables, validations, auditAnnotations };
}
