import { Turn } from './turn';

/** Work that says with each `yield` where it may be interrupted, and returns what came of it. */
export type Steps<Result> = Generator<void, Result, void>;

/** Does the work within turns, giving way to others in between. */
export async function stepsInTurns<Result>(steps: Steps<Result>, turn: Turn): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (turn.isOver) await turn.next();
  }
}

/**
 * Does the work some milliseconds at a time, and gives way to others in between and at the end, so that small works after one
 * another do not add up to a long one. `work`: its name, for the log, when it holds the loop; or the turn that has begun already with
 * what came before the first step.
 */
export async function runSteps<Result>(steps: Steps<Result>, work: string | Turn): Promise<Result> {
  const turn = typeof work === 'string' ? new Turn(work) : work;
  const result = await stepsInTurns(steps, turn);
  await turn.next();
  return result;
}
