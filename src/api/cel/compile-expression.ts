import { check, type Checked } from './checker';
import { compileProgram, type Program } from './evaluate';
import { kubernetesFunctions } from './library';
import { parse } from './parser';
import { CelSyntaxError } from './source-error';
import { patternProblem } from './functions/strings';
import type { Expr } from './ast';
import { atOnce, type Steps } from '../parts';
import type { Type } from './types';

/** Parses and checks an expression whose variables have these types. Throws a CelSyntaxError. */
export function checkExpression(source: string, variables: ReadonlyMap<string, Type>): Checked {
  return atOnce(checkSteps(source, variables));
}

export function compileExpression(source: string, variables: ReadonlyMap<string, Type>): Program {
  return atOnce(compileSteps(source, variables));
}

/** The same in steps: what the longest expression takes is too much at a stretch. */
export function* checkSteps(source: string, variables: ReadonlyMap<string, Type>): Steps<Checked> {
  const expr = parse(source);
  yield;
  const checked = check(source, expr, { functions: kubernetesFunctions(), variables });
  yield;
  yield* checkPatterns(source, expr);
  return checked;
}

export function* compileSteps(source: string, variables: ReadonlyMap<string, Type>): Steps<Program> {
  const checked = yield* checkSteps(source, variables);
  return compileProgram(checked);
}

/** Patterns that stand in the expression are read once before, so that a wrong one is told early. */
function* checkPatterns(source: string, expr: Expr): Steps<void> {
  const pending: Expr[] = [expr];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === 'call' && ['matches', 'find', 'findAll'].includes(node.name)) {
      const pattern = node.target === undefined ? node.args[1] : node.args[0];
      if (pattern?.kind === 'const' && typeof pattern.value === 'string') {
        const problem = patternProblem(pattern.value);
        if (problem !== undefined) throw new CelSyntaxError(source, [{ position: pattern.position, message: problem }]);
        yield;
      }
    }
    pending.push(...partsOf(node));
  }
}

function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'const':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expr.fields.map(({ value }) => value);
    case 'comprehension':
      return [expr.range, expr.initial, expr.condition, expr.step, expr.result];
  }
}
