import { Turn } from './turn';

/** Work that says with each `yield` where it may be interrupted, and returns what came of it. */
export type Steps<Result> = Generator<void, Result, void>;

/** Does the work some milliseconds at a time, and gives way to others in between. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  const turn = new Turn();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (turn.isOver) await turn.next();
  }
}

/** Does the work in one go: where nobody waits. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
