import { resolve } from 'node:path';
import { StepCounter } from './step-counter';
import type { Subject } from './subject';
import { subjectsByHand } from './subjects-by-hand';
import { subjectsOfKinds } from './subjects-of-kinds';

/**
 * Runs in a process of its own, as it replaces functions of the platform. Prints a line of JSON for each subject whose steps
 * grow too fast or that fails, and at the end how many there were.
 */

const SMALLEST = 16;
const DOUBLINGS = 7;
const SURE_DOUBLINGS = 4;
/** What is left of four counts when all that is linear is taken out grows so many times: twice for n log n, four times for a square. */
const MOST_GROWTH = 3;
/** Less than so many steps for each pair of items is the length of numbers in texts and the like. */
const LEAST_STEPS_PER_PAIR = 0.25;

/**
 * How many steps there are for each pair of items, when steps keep growing as their square. What a bound ends, however late, is
 * none.
 */
function stepsPerPair({ prepare }: Subject, counter: StepCounter): number {
  // What is compiled or remembered once is not counted.
  prepare(SMALLEST)();
  const steps: number[] = [];
  for (let doubling = 0; doubling <= DOUBLINGS; doubling += 1) {
    steps.push(counter.count(prepare(SMALLEST * 2 ** doubling)));
    const [first = 0, second = 0, third = 0, fourth = 0] = steps.slice(-4);
    if (steps.length < 4) continue;
    const [before, after] = [third - 3 * second + 2 * first, fourth - 3 * third + 2 * second];
    const pairs = 6 * (SMALLEST * 2 ** (doubling - 2)) ** 2;
    if (after / pairs < LEAST_STEPS_PER_PAIR) return 0;
    // In small sizes what is done once weighs too much to tell.
    if (doubling > SURE_DOUBLINGS && after / Math.max(before, 1) < MOST_GROWTH) return 0;
    if (doubling === DOUBLINGS) return after / pairs;
  }
  return 0;
}

/** Of the places in kinds one of so many; `all` as the first argument takes each. */
const TAKEN = 3;

function main(): void {
  const [which = ''] = process.argv.slice(2);
  const ofKinds = subjectsOfKinds().filter((_, index) => which !== '' || index % TAKEN === 0);
  const subjects = [...subjectsByHand(), ...ofKinds].filter(({ name }) => which === 'all' || name.includes(which));
  const counter = new StepCounter(resolve(__dirname, '..', '..', 'src'));
  for (const subject of subjects) {
    try {
      const excess = stepsPerPair(subject, counter);
      if (excess > 0) console.log(JSON.stringify({ name: subject.name, stepsPerPair: excess }));
    } catch (error) {
      const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
      console.log(JSON.stringify({ name: subject.name, cause }));
    }
  }
  counter.close();
  console.log(JSON.stringify({ subjects: subjects.length }));
}

main();
