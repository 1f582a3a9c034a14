import { PacedStarts } from '../../async/paced-starts';
import type { SharedTurns } from '../../async/shared-turns';
import type { Arrivals } from './arrivals';
import type { ConnectionCosts } from './connection-costs';

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

/** Where what connections bring begins: that of those that have cost much lately waits for its like, and nobody else for it. */
export class StartsByCost {
  readonly #cheap: PacedStarts;
  readonly #costly: PacedStarts;

  /** `stretchMs`: for how long works of cheap connections begin as they come, in a turn of the loop. */
  constructor({ turns, arrivals }: SharedLoop, stretchMs?: number) {
    this.#cheap = new PacedStarts({ turns, ...(stretchMs !== undefined && { stretchMs }) });
    this.#costly = new PacedStarts({
      turns,
      isPatient: true,
      stretchMs: COSTLY_STRETCH_MS,
      waitedStretchMs: COSTLY_WAITED_STRETCH_MS,
      shortTurns: { areNeeded: () => arrivals.areComing, pauseMs: PAUSE_MS },
    });
  }

  of(costs: ConnectionCosts, nowMs: number): PacedStarts {
    return costs.isCostly(nowMs) ? this.#costly : this.#cheap;
  }
}
