import type { Program } from '../../api/cel/evaluate';
import { PAUSE, type Run } from '../../api/cel/run';
import { CALL_LIMIT, UNITS_AT_ONCE } from '../../api/cel/limits';
import { EvalError, ObjectValue, type Value } from '../../api/cel/values';
import type { Budget } from '../cel/evaluation';

/** A policy's variables for one request: each is evaluated when it is first read, and once. */
export class PolicyVariables extends ObjectValue {
  readonly typeName = 'kubernetes.variables';
  readonly #values = new Map<string, Value | EvalError>();
  readonly #runs = new Map<string, Run>();
  readonly #programs: ReadonlyMap<string, Program>;
  readonly #all: Readonly<Record<string, Value>>;

  constructor(
    programs: readonly (readonly [string, Program])[],
    values: Readonly<Record<string, Value>>,
    private readonly budget: Budget,
  ) {
    super();
    this.#programs = new Map(programs);
    this.#all = { ...values, variables: this };
  }

  /** Throws {@link PAUSE} where the evaluation takes longer, or waits. */
  get(name: string): Value | undefined {
    const known = this.#values.get(name);
    if (known instanceof EvalError) throw known;
    if (known !== undefined) return known;
    const program = this.#programs.get(name);
    if (program === undefined) return undefined;
    const run = this.#runs.get(name) ?? program.start(this.#all, CALL_LIMIT);
    this.#runs.set(name, run);
    const outcome = run.proceed(UNITS_AT_ONCE);
    if (outcome === undefined) throw PAUSE;
    this.budget.left -= run.cost;
    const value =
      'value' in outcome
        ? outcome.value
        : new EvalError(`composited variable "${name}" fails to evaluate: ${outcome.error}`);
    this.#values.set(name, value);
    if (value instanceof EvalError) throw value;
    return value;
  }

  fields(): readonly string[] {
    return [...this.#programs.keys()];
  }
}
