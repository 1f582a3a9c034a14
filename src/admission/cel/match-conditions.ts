import { CONDITION_VARIABLES } from '../../api/cel/admission-environment';
import { compileSteps } from '../../api/cel/compile-expression';
import type { Program } from '../../api/cel/evaluate';
import { CONDITIONS_BUDGET } from '../../api/cel/limits';
import type { Steps } from '../../api/parts';
import type { Type } from '../../api/cel/types';
import type { Value } from '../../api/cel/values';
import { Budget, evaluate } from './evaluation';
import type { RequestValues } from './request-values';

export interface MatchCondition {
  readonly name?: string;
  readonly expression?: string;
}

/** The `matchConditions` of a webhook or a policy. Compiled once. */
export interface CompiledConditions {
  /**
   * Whether all hold. False also where some have no value, as long as one says no; throws an Error that names them where none
   * does.
   */
  readonly match: (request: RequestValues, more?: Readonly<Record<string, Value>>) => Promise<boolean>;
}

/** In steps. `variables`: what they may name beside the request. Throws a CelSyntaxError. */
export function* compileConditions(
  conditions: readonly MatchCondition[],
  variables: ReadonlyMap<string, Type> = CONDITION_VARIABLES,
): Steps<CompiledConditions> {
  const compiled: (readonly [string, Program])[] = [];
  for (const { name = '', expression = '' } of conditions) {
    compiled.push([name, yield* compileSteps(expression, variables)]);
    yield;
  }
  return {
    match: async (request, more) => {
      const budget = new Budget(CONDITIONS_BUDGET);
      const values = more === undefined ? request.variables : { ...request.variables, ...more };
      const errors: string[] = [];
      for (const [name, program] of compiled) {
        const outcome = await evaluate(program, values, request.authorizers, budget);
        if (budget.isSpent) {
          throw new Error(
            'validation failed due to running out of cost budget, no further validation rules will be run',
          );
        }
        if ('error' in outcome) errors.push(`expression '${name}' resulted in error: ${outcome.error}`);
        else if (outcome.value === false) return false;
        else if (outcome.value !== true) errors.push(`expression '${name}' did not evaluate to a bool`);
      }
      if (errors.length > 0) throw new Error(errors.join(', '));
      return true;
    },
  };
}
