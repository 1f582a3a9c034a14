import { CostExceeded } from './run';

/**
 * What functions do beyond what their costs say, in comparisons of values or as much: costs are Kubernetes', which knows the sizes of
 * arguments, and neither what is in them nor which characters a text has.
 */

/** Some twenty milliseconds; nothing that an object holds (100,000 values at most) has more to be compared. */
const MOST_OF_A_CALL = 200_000;
/** From here on it counts. */
const FREE = 64;
const PER_UNIT = 10;
/** Of a text that is only passed over. */
const CHARACTERS = 64;

let done = 0;

/** Throws {@link CostExceeded} where it is more than any call needs. */
export function countWork(comparisons: number): void {
  done += comparisons;
  if (done > MOST_OF_A_CALL) throw new CostExceeded();
}

/** As {@link countWork}, of passing over so many characters. */
export function countPassed(characters: number): void {
  countWork(characters / CHARACTERS);
}

/** Before each call. */
export function resetWork(): void {
  done = 0;
}

/** Units of cost since. */
export function unitsOfWork(): number {
  return done > FREE ? Math.ceil(done / PER_UNIT) : 0;
}
