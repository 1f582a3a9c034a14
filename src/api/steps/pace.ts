import { knownKeysOf } from '../parts';

export { keysOf, type Steps } from '../parts';

/** The keys of a map that may change yet: those that are known of one which does not, and listed, not remembered, of any other. */
export function namesIn(map: object): readonly string[] {
  return knownKeysOf(map) ?? Object.keys(map);
}

/** Rounds of loops between two pauses: some hundredths of a millisecond, so that looking at the clock costs nothing. */
export const ROUNDS_BETWEEN_PAUSES = 64;

let rounds = 0;

/** Whether a loop that may be interrupted says so in this round. One count for all, as short loops follow one another. */
export function isPauseDue(): boolean {
  rounds = (rounds + 1) % ROUNDS_BETWEEN_PAUSES;
  return rounds === 0;
}
