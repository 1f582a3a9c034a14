import { inTurns, Turn } from './turn';

/** Work that says with each `yield` where it may be interrupted, and returns what came of it. */
export type Steps<Result> = Generator<void, Result, void>;

/**
 * Does the work some milliseconds at a time, and gives way to others in between and at the end, so that small works after one
 * another do not add up to a long one. `name`: for the log, when it holds the loop.
 */
export async function runSteps<Result>(steps: Steps<Result>, name: string): Promise<Result> {
  const turn = new Turn(name);
  let step: IteratorResult<void, Result> | undefined;
  await inTurns(() => {
    step = steps.next();
    return step.done === true;
  }, turn);
  await turn.next();
  return step?.value as Result;
}
