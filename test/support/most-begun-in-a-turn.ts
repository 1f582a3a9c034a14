import type { Matches } from '../../src/registry/select';

const WORKS = 20;
/** By the clock that is there meanwhile. */
const OBJECT_MS = 3;

/**
 * Begins many works at once, each of which asks its selection about one object and more, and returns how many of them asked for the
 * first time in the same turn of the event loop: of all turns the most.
 */
export async function mostBegunInATurn(beginOne: (matches: Matches) => Promise<void>): Promise<number> {
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  let isDone = false;
  let turn = 0;
  const count = (): void => {
    turn++;
    if (!isDone) setImmediate(count);
  };
  count();
  const begun = new Map<number, number>();
  const selection = (): Matches => {
    let isFirst = true;
    return () => {
      if (isFirst) begun.set(turn, (begun.get(turn) ?? 0) + 1);
      isFirst = false;
      now += OBJECT_MS;
      return true;
    };
  };
  try {
    await Promise.all(Array.from({ length: WORKS }, () => beginOne(selection())));
  } finally {
    isDone = true;
    clock.mockRestore();
  }
  return Math.max(...begun.values());
}
