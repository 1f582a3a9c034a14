import type { Sizes } from './subject';

const SURE_DOUBLINGS = 4;
/** What is left of four counts when all that is linear is taken out grows so many times: twice for n log n, four times for a square. */
const MOST_GROWTH = 3;
/** Less than so many steps for each pair of items is the length of numbers in texts and the like. */
const LEAST_STEPS_PER_PAIR = 0.25;

/**
 * The sizes to count at, one after the other, until it is known how steps grow. Returns how many there are for each pair of
 * items, when they keep growing as the square of their number; what a bound ends, however late, is none.
 */
export function* stepsPerPair({ smallest, doublings }: Sizes): Generator<number, number, number> {
  const steps: number[] = [];
  for (let doubling = 0; doubling <= doublings; doubling += 1) {
    steps.push(yield smallest * 2 ** doubling);
    const [first = 0, second = 0, third = 0, fourth = 0] = steps.slice(-4);
    if (steps.length < 4) continue;
    const [before, after] = [third - 3 * second + 2 * first, fourth - 3 * third + 2 * second];
    const pairs = 6 * (smallest * 2 ** (doubling - 2)) ** 2;
    if (after / pairs < LEAST_STEPS_PER_PAIR) return 0;
    // In small sizes what is done once weighs too much to tell.
    if (doubling > SURE_DOUBLINGS && after / Math.max(before, 1) < MOST_GROWTH) return 0;
    if (doubling === doublings) return after / pairs;
  }
  return 0;
}
