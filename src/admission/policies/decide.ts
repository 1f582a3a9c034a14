import { OBJECT_BUDGET } from '../../api/cel/limits';
import type { Value } from '../../api/cel/values';
import { Budget, evaluate } from '../cel/evaluation';
import type { RequestValues } from '../cel/request-values';
import type { Policy, PolicyPrograms, Validation } from './policy';
import { PolicyVariables } from './variables';

/** What a policy, with one binding and one parameter object, finds wrong with a request. */
export interface Failure {
  readonly message: string;
  readonly reason: string;
  /** Of the validation; undefined where the policy could not be evaluated. */
  readonly index: number | undefined;
}

export interface PolicyDecision {
  readonly failures: readonly Failure[];
  /** Of the audit event; several bindings may have values for one key. */
  readonly annotations: readonly (readonly [key: string, value: string])[];
}

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';
const MAX_MESSAGE = 5 * 1024;
const MAX_ANNOTATION = 10 * 1024;

export async function decide(
  policy: Policy,
  programs: PolicyPrograms,
  request: RequestValues,
  more: Readonly<Record<string, Value>>,
): Promise<PolicyDecision> {
  const budget = new Budget(OBJECT_BUDGET);
  const base = { ...request.variables, ...more };
  const variables = { ...base, variables: new PolicyVariables(programs.variables, base, budget) };
  const failures: Failure[] = [];
  for (const [index, validation] of programs.validations.entries()) {
    const outcome = await evaluate(validation.program, variables, request.authorizers, budget);
    if (budget.isSpent) {
      failures.push({ message: OUT_OF_BUDGET, reason: '', index: undefined });
      return { failures: allowed(policy, failures), annotations: [] };
    }
    const { expression = '', reason } = validation.spec;
    if ('error' in outcome) failures.push(unknown(expression, outcome.error));
    else if (outcome.value !== true) {
      const message = (await messageOf(validation, variables, request, budget)) ?? defaultMessage(validation);
      failures.push({ message, reason: reason ?? '', index });
    }
  }
  const annotations: (readonly [string, string])[] = [];
  for (const { key, expression, program } of programs.auditAnnotations) {
    const outcome = await evaluate(program, variables, request.authorizers, budget);
    if ('error' in outcome) failures.push(unknown(expression, outcome.error));
    else if (typeof outcome.value === 'string' && outcome.value.trim() !== '') {
      annotations.push([`${policy.name}/${key}`, outcome.value.trim().slice(0, MAX_ANNOTATION)]);
    }
  }
  return { failures: allowed(policy, failures), annotations };
}

function unknown(expression: string, error: string): Failure {
  return { message: `expression '${expression}' resulted in error: ${error}`, reason: '', index: undefined };
}

/** What could not be evaluated counts as the policy says. */
function allowed({ failsClosed }: Policy, failures: readonly Failure[]): readonly Failure[] {
  return failsClosed ? failures : failures.filter(({ index }) => index !== undefined);
}

function defaultMessage({ spec: { message = '', expression = '' } }: Validation): string {
  return message.trim() === '' ? `failed expression: ${expression.trim()}` : message.trim();
}

/** Undefined: it has none, or it cannot be used. */
async function messageOf(
  { message }: Validation,
  variables: Readonly<Record<string, Value>>,
  request: RequestValues,
  budget: Budget,
): Promise<string | undefined> {
  if (message === undefined) return undefined;
  const outcome = await evaluate(message, variables, request.authorizers, budget);
  const text = 'value' in outcome && typeof outcome.value === 'string' ? outcome.value.trim() : '';
  return text === '' || text.length > MAX_MESSAGE || text.includes('\n') ? undefined : text;
}
