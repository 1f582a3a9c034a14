import type { ComprehensionExpr, Expr } from './ast';
import type { Code, ExpressionCompiler } from './code';
import { insert } from './map-keys';
import { PAUSE, type Progress, type Run } from './run';
import { Entries, EvalError, Items, ListValue, MapValue, type Value } from './values';

/** What a comprehension has gathered: a value, an error that a later element may outweigh, or a list or map in the making. */
type Gathered = Value | EvalError | Value[] | Map<string, readonly [Value, Value]>;

interface Loop {
  readonly id: number;
  readonly lastInner: number;
  readonly range: Code;
  readonly initial: (run: Run) => Gathered;
  readonly goesOn: Code;
  readonly step: (run: Run, gathered: Gathered) => Gathered;
  readonly finish: (run: Run, gathered: Gathered) => Value;
  readonly setVariables: (run: Run, range: Value, keys: readonly Value[] | undefined, index: number) => void;
  readonly setAccumulator: (run: Run, gathered: Gathered) => void;
}

/** Results that cost more than this are kept while the evaluation is interrupted. */
const WORTH_KEEPING = 200;

export function compileComprehension(expr: ComprehensionExpr, compiler: ExpressionCompiler): Code {
  if (expr.variable === '#unused') return compileBinding(expr, compiler);
  const id = compiler.nextComprehension();
  const range = compiler.compile(expr.range);
  const initial = compiler.compile(expr.initial);
  const names = [expr.accumulator, ...(expr.variable2 === undefined ? [] : [expr.variable2]), expr.variable];
  return compiler.within(names, (slots) => {
    const accumulator = slots[0] as number;
    const variable2 = expr.variable2 === undefined ? undefined : slots[1];
    const variable = slots[slots.length - 1] as number;
    const goesOn = compiler.compile(expr.condition);
    const gathering = gatheringOf(expr, compiler, initial, accumulator);
    return loopOf({
      id,
      lastInner: compiler.lastComprehension(),
      range,
      goesOn,
      ...gathering,
      setVariables: (run, over, keys, index) => {
        const isList = over instanceof ListValue;
        const key = isList ? BigInt(index) : ((keys as readonly Value[])[index] as Value);
        const element = (): Value => (isList ? over.at(index) : ((over as MapValue).get(key) as Value));
        if (variable2 === undefined) run.locals[variable] = isList ? over.at(index) : key;
        else {
          run.locals[variable] = key;
          run.locals[variable2] = element();
        }
      },
      setAccumulator: (run, gathered) => {
        run.locals[accumulator] = gathered as Value;
      },
    });
  });
}

/** `cel.bind(name, value, body)`. */
function compileBinding(expr: ComprehensionExpr, compiler: ExpressionCompiler): Code {
  const value = compiler.compile(expr.initial);
  return compiler.within([expr.accumulator], ([slot = 0]) => {
    const body = compiler.compile(expr.result);
    return (run) => {
      run.locals[slot] = value(run);
      return body(run);
    };
  });
}

type Gathering = Pick<Loop, 'initial' | 'step' | 'finish'>;

/** Lists and maps that grow by one are not copied each time. */
function gatheringOf(expr: ComprehensionExpr, compiler: ExpressionCompiler, initial: Code, slot: number): Gathering {
  const growing = growingOf(expr);
  if (growing === undefined) return plainGathering(expr, compiler, initial, slot);
  const condition = growing.condition === undefined ? undefined : compiler.compile(growing.condition);
  const parts = growing.parts.map((part) => compiler.compile(part));
  const isWanted = (run: Run): boolean => {
    if (condition === undefined) return true;
    const decision = condition(run);
    if (typeof decision !== 'boolean') throw new EvalError('no such overload');
    if (!decision) run.spend(1);
    return decision;
  };
  if (growing.kind === 'list') {
    return {
      initial: (run) => (initial(run), []),
      step: (run, gathered) => {
        if (!isWanted(run)) return gathered;
        const element = (parts[0] as Code)(run);
        // The accumulator, a list of one element, and their sum.
        run.spend(12);
        (gathered as Value[]).push(element);
        return gathered;
      },
      finish: (run, gathered) => (run.spend(1), new Items(gathered as Value[])),
    };
  }
  return {
    initial: (run) => (initial(run), new Map()),
    step: (run, gathered) => {
      if (!isWanted(run)) return gathered;
      const map = gathered as Map<string, readonly [Value, Value]>;
      const [first, second] = parts.map((part) => part(run)) as [Value, Value | undefined];
      run.spend(2);
      if (second !== undefined) insert(map, first, second);
      else if (!(first instanceof MapValue)) throw new EvalError('no such overload');
      else for (const key of first.keys()) insert(map, key, first.get(key) as Value);
      return gathered;
    },
    finish: (run, gathered) => (run.spend(1), new Entries(gathered as Map<string, readonly [Value, Value]>)),
  };
}

function plainGathering(expr: ComprehensionExpr, compiler: ExpressionCompiler, initial: Code, slot: number): Gathering {
  const step = compiler.compile(expr.step);
  const result = compiler.compile(expr.result);
  return {
    initial,
    step: (run, gathered) => {
      run.locals[slot] = gathered as Value;
      try {
        return step(run);
      } catch (error) {
        // Of `all` and `exists`, a later element may decide all the same.
        if (error instanceof EvalError) return error;
        throw error;
      }
    },
    finish: (run, gathered) => {
      run.locals[slot] = gathered as Value;
      return result(run);
    },
  };
}

interface Growing {
  readonly kind: 'list' | 'map';
  readonly condition: Expr | undefined;
  readonly parts: readonly Expr[];
}

function growingOf({ initial, step, accumulator }: ComprehensionExpr): Growing | undefined {
  const kind = initial.kind === 'list' || initial.kind === 'map' ? initial.kind : undefined;
  if (kind === undefined || step.kind !== 'call') return undefined;
  const isConditional = step.name === '_?_:_';
  const condition = isConditional ? step.args[0] : undefined;
  const grown = isConditional ? step.args[1] : step;
  if (grown?.kind !== 'call') return undefined;
  const [first, second, third] = grown.args;
  if (first?.kind !== 'ident' || first.name !== accumulator || second === undefined) return undefined;
  if (kind === 'list') {
    return grown.name === '_+_' && second.kind === 'list' ? { kind, condition, parts: second.elements } : undefined;
  }
  return { kind, condition, parts: third === undefined ? [second] : [second, third] };
}

function loopOf(loop: Loop): Code {
  const { id, lastInner, range, initial, goesOn, step, finish, setVariables, setAccumulator } = loop;
  return (run) => {
    const before = run.progress.size === 0 ? undefined : run.progress.get(id);
    if (before?.done !== undefined) {
      run.cost = before.cost;
      return before.done;
    }
    const startCost = run.cost;
    const over = (before?.range as Value | undefined) ?? range(run);
    const keys = over instanceof MapValue ? over.keys() : undefined;
    if (keys === undefined && !(over instanceof ListValue)) throw new EvalError('no such overload');
    const length = keys?.length ?? (over as ListValue).length;
    let gathered = before === undefined ? initial(run) : (before.accumulator as Gathered);
    let index = before?.index ?? 0;
    if (before !== undefined) run.progress.delete(id);
    let cost = before?.cost ?? run.cost;
    try {
      if (before !== undefined) run.cost = before.cost;
      for (; index < length; index += 1) {
        cost = run.cost;
        if (cost > run.pauseAt) throw PAUSE;
        setAccumulator(run, gathered);
        setVariables(run, over, keys, index);
        if (goesOn(run) !== true) break;
        gathered = step(run, gathered);
        if (run.progress.size > 0) forgetInner(run, id, lastInner);
      }
    } catch (error) {
      if (error === PAUSE) run.progress.set(id, { cost, index, accumulator: gathered, range: over } satisfies Progress);
      throw error;
    }
    const value = finish(run, gathered);
    if (run.cost - startCost > WORTH_KEEPING && run.pauseAt !== Infinity) {
      run.progress.set(id, { cost: run.cost, done: value, index, accumulator: undefined, range: undefined });
    }
    return value;
  };
}

/** What belongs to the element before. */
function forgetInner(run: Run, id: number, lastInner: number): void {
  for (const known of run.progress.keys()) if (known > id && known <= lastInner) run.progress.delete(known);
}
