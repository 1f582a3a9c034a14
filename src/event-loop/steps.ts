import { Turn } from './turn';

/** Work that says with each `yield` where it may be interrupted, and returns what came of it. */
export type Steps<Result> = Generator<void, Result, void>;

/** Does the work some milliseconds at a time, and gives way to others in between. `name`: for the log, when it holds the loop. */
export async function runSteps<Result>(steps: Steps<Result>, name: string): Promise<Result> {
  const turn = new Turn(name);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (turn.isOver) await turn.next();
  }
}
