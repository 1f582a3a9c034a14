import type { Expr } from './ast';
import type { Run } from './run';
import type { Value } from './values';

/** Compiled: reads variables and locals of a run, counts what it costs, returns the value or throws. */
export type Code = (run: Run) => Value;

/** What a part of the compiler needs of the whole. */
export interface ExpressionCompiler {
  compile(expr: Expr): Code;
  /** The number of the next comprehension; those within one have the numbers that follow. */
  nextComprehension(): number;
  lastComprehension(): number;
  /** Compiles with more variables, each in a slot of its own. */
  within<Result>(names: readonly string[], compile: (slots: readonly number[]) => Result): Result;
}
