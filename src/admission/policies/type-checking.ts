import { policyVariables, withVariables } from '../../api/cel/admission-environment';
import { checkSteps } from '../../api/cel/compile-expression';
import { celTypeOf } from '../../api/cel/struct-type';
import { DYN, type Type } from '../../api/cel/types';
import type { GroupVersionKind } from '../../api/object';
import type { Steps } from '../../api/parts';
import type { StructType } from '../../api/schema/model';
import type { PolicySpec } from './policy';

/** What the check of a policy's types says of one of its expressions: an entry of `status.typeChecking`. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/** A kind that a policy is about. */
export interface TypedKind {
  readonly kind: GroupVersionKind;
  readonly type: StructType;
}

/** What is served, as far as it has types. */
export interface TypedKinds {
  ofResource(group: string, version: string, resource: string): TypedKind | undefined;
  ofKind(apiVersion: string, kind: string): StructType | undefined;
}

/** As many kinds as kube-apiserver checks a policy for. */
const MAX_KINDS = 10;
const ANY_OR_SUBRESOURCE = /[*/]/;

/**
 * Checks the validations of a policy with the types of each kind that its rules name, an expression in a step. A policy with warnings
 * works nevertheless: what has no value counts by its failurePolicy.
 */
export function* typeWarnings(spec: PolicySpec, kinds: TypedKinds): Steps<readonly ExpressionWarning[]> {
  const environments: { readonly kind: GroupVersionKind; readonly variables: ReadonlyMap<string, Type> }[] = [];
  for (const { kind, type } of namedKinds(spec, kinds)) {
    environments.push({ kind, variables: yield* variablesFor(spec, celTypeOf(type), kinds) });
  }
  const warnings: ExpressionWarning[] = [];
  const check = function* (fieldRef: string, expression: string): Steps<void> {
    const problems: string[] = [];
    for (const { kind, variables } of environments) {
      const problem = yield* checkTypes(expression, variables);
      if (typeof problem === 'string') problems.push(`${kind.group}/${kind.version}, Kind=${kind.kind}: ${problem}`);
      yield;
    }
    if (problems.length > 0) warnings.push({ fieldRef, warning: problems.join('\n') });
  };
  for (const [index, { expression = '', messageExpression = '' }] of (spec.validations ?? []).entries()) {
    yield* check(`spec.validations[${index}].expression`, expression);
    if (messageExpression !== '') yield* check(`spec.validations[${index}].messageExpression`, messageExpression);
  }
  return warnings;
}

/** The kinds that the rules name without a star, in order. Subresources have none of their own. */
function namedKinds({ matchConstraints }: PolicySpec, kinds: TypedKinds): readonly TypedKind[] {
  const found = new Map<string, TypedKind>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of matchConstraints?.resourceRules ?? []) {
    if (apiGroups.includes('*') || apiVersions.includes('*')) continue;
    for (const group of [...apiGroups].sort()) {
      for (const version of [...apiVersions].sort()) {
        for (const resource of [...resources].sort()) {
          if (found.size >= MAX_KINDS) break;
          const typed = ANY_OR_SUBRESOURCE.test(resource) ? undefined : kinds.ofResource(group, version, resource);
          if (typed !== undefined) found.set(nameOf(typed), typed);
        }
      }
    }
  }
  return [...found].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, typed]) => typed);
}

function nameOf({ kind: { group, version, kind } }: TypedKind): string {
  return `${group}/${version}/${kind}`;
}

/** A variable that cannot be checked may be anything: what is wrong with it is told by those who read it. */
function* variablesFor(spec: PolicySpec, object: Type, kinds: TypedKinds): Steps<ReadonlyMap<string, Type>> {
  const { paramKind } = spec;
  const params = paramKind ? kinds.ofKind(paramKind.apiVersion ?? '', paramKind.kind ?? '') : undefined;
  const namespace = kinds.ofKind('v1', 'Namespace');
  const typed = new Map(policyVariables(paramKind));
  typed.set('object', object).set('oldObject', object);
  if (params !== undefined) typed.set('params', celTypeOf(params));
  if (namespace !== undefined) typed.set('namespaceObject', celTypeOf(namespace));
  const own = new Map<string, Type>();
  const all = withVariables(typed, own);
  for (const { name = '', expression = '' } of spec.variables ?? []) {
    const type = yield* checkTypes(expression, all);
    own.set(name, typeof type === 'string' ? DYN : type);
    yield;
  }
  return all;
}

/** The type of an expression, or what is wrong with it. */
function* checkTypes(expression: string, variables: ReadonlyMap<string, Type>): Steps<Type | string> {
  try {
    return (yield* checkSteps(expression.trim(), variables)).type;
  } catch (error) {
    if (!(error instanceof Error && error.name === 'CelSyntaxError')) throw error;
    return error.message;
  }
}
