import { checkExpression } from '../cel/compile-expression';
import type { Type } from '../cel/types';

/** What an expression of an object is to come to; undefined: anything. */
export type WantedType = 'bool' | 'string' | undefined;

/** The type of an expression in CEL, and what is wrong with it. */
export function typeOfExpression(
  expression: string,
  variables: ReadonlyMap<string, Type>,
  wanted: WantedType,
): { readonly type?: Type; readonly problem?: string } {
  try {
    const { type } = checkExpression(expression, variables);
    const fits = wanted === undefined || type.kind === wanted || type.kind === 'dyn';
    return fits ? { type } : { type, problem: `must evaluate to ${wanted}` };
  } catch (error) {
    if (!(error instanceof Error && error.name === 'CelSyntaxError')) throw error;
    return { problem: `compilation failed: ${error.message}` };
  }
}
