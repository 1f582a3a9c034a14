import type { Turn } from './turn';

/** So many are there before others have their turn, however little time they took: works that begin together may be many. */
const AT_ONCE = 16;

/** Values one after the other, each awaited where it has to be, with others in between: the turn is the consumer's, too. */
export async function* eachInTurns<T>(values: Iterable<T | Promise<T>>, turn: Turn): AsyncGenerator<T, void, void> {
  let taken = 0;
  for (const value of values) {
    if (++taken === AT_ONCE || turn.isOver) await turn.next();
    yield value instanceof Promise ? await value : value;
  }
}
