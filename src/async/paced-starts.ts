import { FairQueue } from './fair-queue';
import { SharedTurns, type Rank, type TurnTaker } from './shared-turns';

/** How long works may begin one after another before the loop has to have turned. */
const STRETCH_MS = 5;
/** Of those that have waited: what they leave to be done when they have begun comes on top. */
const WAITED_STRETCH_MS = 3;

export interface PacedStartsOptions {
  /** Of so many that have waited, where most of a work is done after it has begun. */
  readonly mostAtOnce?: (waiting: number) => number;
  readonly stretchMs?: number;
  /** For how long those that have waited begin one after another in a turn. */
  readonly waitedStretchMs?: number;
  /** How long it is to be from a turn in which works begin to the next one; 0: turns need not be kept short now. */
  readonly pauseMs?: () => number;
  /** With whom it shares turns of the loop; absent: with nobody. */
  readonly turns?: SharedTurns;
  /** Among those it shares them with. */
  readonly rank?: Rank;
  /** What an owner has brought last begins before the rest of it. */
  readonly isNewestFirst?: boolean;
}

/**
 * Begins works as they come, but only for some milliseconds in a turn of the event loop: when thousands come at once, the rest
 * waits for the next turns, in which owners take turns. Where there is nothing to wait for, it costs a comparison.
 */
export class PacedStarts implements TurnTaker {
  readonly rank: Rank;
  readonly #mostAtOnce: (waiting: number) => number;
  readonly #stretchMs: number;
  readonly #waitedStretchMs: number;
  readonly #pauseMs: () => number;
  readonly #turns: SharedTurns;
  readonly #waiting: FairQueue<() => void>;
  #stretchBegan = -Infinity;
  /** When those that have waited began last. */
  #lastBegunMs = -Infinity;
  /** The loop is about to say that it has turned. */
  #isDue = false;

  constructor(options: PacedStartsOptions = {}) {
    this.#mostAtOnce = options.mostAtOnce ?? unlimited;
    this.#stretchMs = options.stretchMs ?? STRETCH_MS;
    this.#waitedStretchMs = options.waitedStretchMs ?? WAITED_STRETCH_MS;
    this.#pauseMs = options.pauseMs ?? none;
    this.#turns = options.turns ?? new SharedTurns();
    this.rank = options.rank ?? 0;
    this.#waiting = new FairQueue(undefined, options.isNewestFirst);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether a work may begin right away; otherwise it has to {@link wait}. */
  mayBegin(nowMs: number): boolean {
    if (this.#waiting.length > 0 || this.#pauseMs() > 0) return false;
    if (nowMs - this.#stretchBegan < this.#stretchMs) return true;
    // The loop had said that it turned, or begins to be watched: it has the same time once more.
    if (this.#isDue) return false;
    this.#stretchBegan = nowMs;
    this.#watchLoop();
    return true;
  }

  /** Begins a work right away where it may, and in a later turn of the loop otherwise: true. */
  beginOrWait(owner: unknown, begin: () => void): boolean {
    if (this.mayBegin(performance.now())) {
      begin();
      return false;
    }
    this.wait(owner, begin);
    return true;
  }

  /** Calls `begin` in a later turn of the loop. */
  wait(owner: unknown, begin: () => void): void {
    this.#waiting.push(owner, begin);
    this.#watchLoop();
  }

  #watchLoop(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#turns.await(this);
  }

  onTurn(): void {
    this.#isDue = false;
    const began = (this.#stretchBegan = performance.now());
    if (this.#waiting.length === 0) return;
    // First, lest one that throws leaves the others waiting for ever.
    this.#watchLoop();
    if (began - this.#lastBegunMs < this.#pauseMs()) return;
    this.#lastBegunMs = began;
    const most = this.#mostAtOnce(this.#waiting.length);
    let begun = 0;
    do this.#waiting.shift()?.();
    while (++begun < most && this.#waiting.length > 0 && performance.now() - began < this.#waitedStretchMs);
    // What comes by the sockets after these has to wait for the next turn.
    this.#stretchBegan = -Infinity;
  }
}

function unlimited(): number {
  return Infinity;
}

function none(): number {
  return 0;
}
