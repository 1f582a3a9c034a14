import type { Program } from '../../api/cel/evaluate';
import type { Authorizers } from '../../api/cel/functions/authorizer';
import { CALL_LIMIT, UNITS_AT_ONCE } from '../../api/cel/limits';
import type { Outcome } from '../../api/cel/run';
import type { Value } from '../../api/cel/values';
import type { MaybePromise } from '../../api/maybe-promise';
import { Turn } from '../../async/turn';

/** What is left for the expressions of one request. */
export class Budget {
  constructor(public left: number) {}

  get isSpent(): boolean {
    return this.left < 0;
  }
}

/** Evaluates at once what is cheap; what is not, a part at a time, with others in between. */
export function evaluate(
  program: Program,
  variables: Readonly<Record<string, Value>>,
  authorizers: Authorizers,
  budget: Budget,
): MaybePromise<Outcome> {
  const run = program.start(variables, CALL_LIMIT);
  const settle = (outcome: Outcome): Outcome => {
    budget.left -= run.cost;
    return outcome;
  };
  const outcome = run.proceed(UNITS_AT_ONCE);
  if (outcome !== undefined) return settle(outcome);
  const goOn = async (): Promise<Outcome> => {
    const turn = new Turn('an expression of a policy');
    for (;;) {
      const pending = authorizers.takePending();
      if (pending !== undefined) {
        await pending;
        turn.restart();
      } else if (turn.isOver) await turn.next();
      const next = run.proceed(UNITS_AT_ONCE);
      if (next !== undefined) return settle(next);
    }
  };
  return goOn();
}
