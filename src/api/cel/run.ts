import { atOnce, type Steps } from '../parts';
import { EvalError, type Value } from './values';

/** The evaluation has spent what it may. No condition catches it. */
export class CostExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded';
}

/** Thrown where an evaluation may be interrupted, to go on from there later. */
export const PAUSE = Symbol('pause');

/** Where a comprehension stands, or what came of it, when its evaluation is interrupted. */
export interface Progress {
  /** What had been spent there, so that nothing counts twice. */
  readonly cost: number;
  readonly done?: Value;
  readonly index: number;
  readonly accumulator: unknown;
  readonly range: unknown;
}

/** The one that proceeds. */
let proceeding: Run | undefined;

/** Returns the one that did before. */
function proceed(run: Run | undefined): Run | undefined {
  const before = proceeding;
  proceeding = run;
  return before;
}

/**
 * A function's result that takes long, made in steps between which the evaluation is interrupted. As an evaluation that goes on begins
 * anew, results are remembered until it ends: by the name of the function and what it is about, and by the text that it looks through.
 */
export function inSteps<Result extends Value>(name: string, text: string, begin: () => Steps<Result>): Result {
  const run = proceeding;
  if (run === undefined || run.pauseAt === Infinity) return atOnce(begin());
  return run.longWork(name, text, begin) as Result;
}

/** Of the texts of one evaluation's long works: their results have about as many. */
const MAX_REMEMBERED = 16 * 1024 * 1024;

interface LongWork {
  readonly steps: Steps<Value>;
  done?: { readonly result: Value };
}

export type Outcome = { readonly value: Value } | { readonly error: string; readonly costExceeded: boolean };

/**
 * One evaluation of an expression. What it spends is counted in Kubernetes' units, and ends it when it is too much. It can be
 * taken in parts: comprehensions, which alone take long, say where they stand, and an evaluation that is begun again goes
 * on from there, since expressions have no effects.
 */
export class Run {
  cost = 0;
  pauseAt = Infinity;
  readonly locals: Value[] = [];
  readonly progress = new Map<number, Progress>();
  /** Characters of the texts that long works are about. */
  #remembered = 0;
  #longWorks: Map<string, Map<string, LongWork>> | undefined;

  constructor(
    readonly variables: Readonly<Record<string, Value>>,
    readonly limit: number,
    private readonly code: (run: Run) => Value,
  ) {}

  spend(units: number): void {
    this.cost += units;
    if (this.cost > this.limit) throw new CostExceeded();
  }

  /** For {@link inSteps}. */
  longWork(name: string, text: string, begin: () => Steps<Value>): Value {
    const works = (this.#longWorks ??= new Map<string, Map<string, LongWork>>());
    const ofName = works.get(name) ?? new Map<string, LongWork>();
    works.set(name, ofName);
    let work = ofName.get(text);
    if (work === undefined) {
      this.#remembered += text.length;
      if (this.#remembered > MAX_REMEMBERED) throw new CostExceeded();
      ofName.set(text, (work = { steps: begin() }));
    }
    if (work.done === undefined) {
      const { done, value } = work.steps.next();
      if (done !== true) throw PAUSE;
      work.done = { result: value };
    }
    return work.done.result;
  }

  /** The outcome, or undefined after about so many units: there is more to do then. */
  proceed(units = Infinity): Outcome | undefined {
    const spent = this.cost;
    this.pauseAt = spent + units;
    this.cost = 0;
    const before = proceed(this);
    try {
      return { value: this.code(this) };
    } catch (error) {
      if (error === PAUSE) return undefined;
      if (error instanceof EvalError) return { error: error.message, costExceeded: false };
      if (error instanceof CostExceeded) return { error: error.message, costExceeded: true };
      // What nests deeper than the stack bears is no fault of the server's.
      if (error instanceof RangeError) return { error: 'evaluation is nested too deeply', costExceeded: false };
      throw error;
    } finally {
      proceed(before);
    }
  }
}
