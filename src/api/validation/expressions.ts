import { checkSteps } from '../cel/compile-expression';
import type { Type } from '../cel/types';
import type { Steps } from '../parts';

/** What an expression of an object is to come to; undefined: anything. */
export type WantedType = 'bool' | 'string' | 'string or null' | undefined;

/** The type of an expression in CEL, and what is wrong with it. */
export function* typeOfExpression(
  expression: string,
  variables: ReadonlyMap<string, Type>,
  wanted: WantedType,
): Steps<{ readonly type?: Type; readonly problem?: string }> {
  try {
    const { type } = yield* checkSteps(expression, variables);
    if (wanted === undefined || type.kind === wanted || type.kind === 'dyn') return { type };
    if (wanted !== 'string or null') return { type, problem: `must evaluate to ${wanted}` };
    const fits = type.kind === 'string' || type.kind === 'null';
    return fits ? { type } : { type, problem: 'must evaluate to one of [string null_type]' };
  } catch (error) {
    if (!(error instanceof Error && error.name === 'CelSyntaxError')) throw error;
    return { problem: `compilation failed: ${error.message}` };
  }
}
