import { PacedStarts } from '../../async/paced-starts';
import type { SharedTurns } from '../../async/shared-turns';
import type { Arrivals } from './arrivals';
import type { ConnectionCosts, CostLevel } from './connection-costs';

/** In a turn of the loop, of connections that have cost much lately: as much as comes, and of what has waited. */
const COSTLY_STRETCH_MS = 3;
const COSTLY_WAITED_STRETCH_MS = 1;
/** While connections come, costly ones go on in a turn this often: strangers who do nothing but connect are not to hold up who has much to do. */
const ARRIVALS_PAUSE_MS = 5;
/** From so many requests on that have been given up and do not know yet, what they hold is to be freed before more begins; but that goes on this often. */
const MANY_ENDS = 256;
const ENDS_PAUSE_MS = 100;

/** More at once, or in one URL, is no request of a client that asks for something now and then. */
const MUCH_BYTES = 2_048;

/** What all that begins something for connections has in common. */
export interface SharedLoop {
  readonly turns: SharedTurns;
  readonly arrivals: Arrivals;
  /** Of requests that were given up. */
  readonly ends: PacedStarts;
}

/**
 * Where what connections bring begins: that of those that have cost much lately waits for its like, and nobody else for it; and so does
 * that of those that have cost something, so that one who has just come is not behind thousands of requests.
 */
export class StartsByCost {
  readonly #byLevel: Readonly<Record<CostLevel, PacedStarts>>;

  constructor({ turns, arrivals, ends }: SharedLoop) {
    const endsPauseMs = (): number => (ends.waiting >= MANY_ENDS ? ENDS_PAUSE_MS : 0);
    this.#byLevel = {
      0: new PacedStarts({ turns, rank: 0 }),
      1: new PacedStarts({ turns, rank: 1, pauseMs: endsPauseMs }),
      2: new PacedStarts({
        turns,
        rank: 2,
        stretchMs: COSTLY_STRETCH_MS,
        waitedStretchMs: COSTLY_WAITED_STRETCH_MS,
        pauseMs: () => endsPauseMs() || (arrivals.areComing ? ARRIVALS_PAUSE_MS : 0),
      }),
    };
  }

  /** `bytes`: how much it is that waits. */
  of(costs: ConnectionCosts, nowMs: number, bytes: number): PacedStarts {
    return this.#byLevel[levelOf(costs, nowMs, bytes)];
  }
}

/** Of so many bytes that wait: they may be more than a connection brings that is used little, whatever that has cost so far. */
export function levelOf(costs: ConnectionCosts, nowMs: number, bytes: number): CostLevel {
  const level = costs.levelAt(nowMs);
  return level === 0 && bytes > MUCH_BYTES ? 1 : level;
}
