import { resolve } from 'node:path';
import { stepsPerPair } from './growth';
import { StepCounter } from './step-counter';
import type { Sizes, Subject } from './subject';
import { subjectsByHand } from './subjects-by-hand';
import { subjectsOfKinds } from './subjects-of-kinds';

/**
 * Runs in a process of its own, as it replaces functions of the platform. Prints a line of JSON for each subject whose steps
 * grow too fast or that fails, and at the end how many there were.
 */

const SIZES: Sizes = { smallest: 16, doublings: 7 };

function excessOf({ prepare }: Subject, counter: StepCounter): number {
  // What is compiled or remembered once is not counted.
  prepare(SIZES.smallest)();
  const growth = stepsPerPair(SIZES);
  let size = growth.next();
  while (size.done !== true) size = growth.next(counter.count(prepare(size.value)));
  return size.value;
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
      const excess = excessOf(subject, counter);
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
