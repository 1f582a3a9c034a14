import { PacedStarts } from '../../async/paced-starts';
import type { SharedTurns } from '../../async/shared-turns';
import type { Arrivals } from './arrivals';
import type { ConnectionCosts, CostLevel } from './connection-costs';

/** In a turn of the loop, of connections that have cost much lately: as much as comes, and of what has waited. */
const COSTLY_STRETCH_MS = 3;
const COSTLY_WAITED_STRETCH_MS = 1;
/** While connections come, costly ones go on in a turn this often: strangers who do nothing but connect are not to hold up who has much to do. */
const PAUSE_MS = 5;

/** What all that begins something for connections has in common. */
export interface SharedLoop {
  readonly turns: SharedTurns;
  readonly arrivals: Arrivals;
}

/**
 * Where what connections bring begins: that of those that have cost much lately waits for its like, and nobody else for it; and so does
 * that of those that have cost something, so that one who has just come is not behind thousands of requests.
 */
export class StartsByCost {
  readonly #byLevel: Readonly<Record<CostLevel, PacedStarts>>;

  constructor({ turns, arrivals }: SharedLoop) {
    this.#byLevel = {
      0: new PacedStarts({ turns, rank: 0 }),
      1: new PacedStarts({ turns, rank: 1 }),
      2: new PacedStarts({
        turns,
        rank: 2,
        stretchMs: COSTLY_STRETCH_MS,
        waitedStretchMs: COSTLY_WAITED_STRETCH_MS,
        shortTurns: { areNeeded: () => arrivals.areComing, pauseMs: PAUSE_MS },
      }),
    };
  }

  /** `isMuch`: what waits is more than a connection brings that is used little, whatever it has cost so far. */
  of(costs: ConnectionCosts, nowMs: number, isMuch = false): PacedStarts {
    const level = costs.levelAt(nowMs);
    return this.#byLevel[isMuch && level === 0 ? 1 : level];
  }
}
