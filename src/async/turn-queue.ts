import { FairQueue } from './fair-queue';

const always = (): boolean => true;

export interface TurnQueueOptions {
  /** Asked before each; while it says no, all wait, until {@link TurnQueue.wake} is called. */
  readonly mayGoOn?: () => boolean;
  /** Others go on in the same turn of the loop until so much of it is over; 0: only one does. */
  readonly stretchMs?: number;
}

/**
 * Those that wait until they may go on: owners take turns, and in each turn of the event loop one of those who wait goes on, or as many
 * as have time, so that what others have sent meanwhile is looked at in between.
 */
export class TurnQueue {
  readonly #waiting = new FairQueue<() => void>();
  /** Those that have waited for long enough. */
  readonly #late = new FairQueue<() => void>();
  #isDue = false;
  readonly #mayGoOn: () => boolean;
  readonly #stretchMs: number;
  /** One has gone on since the loop turned, without having waited. */
  #isCrowded = false;

  constructor({ mayGoOn = always, stretchMs = 0 }: TurnQueueOptions = {}) {
    this.#mayGoOn = mayGoOn;
    this.#stretchMs = stretchMs;
  }

  get length(): number {
    return this.#waiting.length + this.#late.length;
  }

  /** Resolves when it is the owner's turn. An owner that then finds nothing left waits again. */
  turn(owner: unknown): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(owner, resolve);
      this.wake();
    });
  }

  /**
   * As {@link turn}; undefined: right away, since nobody waits, and it is the first to ask since the loop turned. Those that wait for one
   * promise all ask before any of them has done its work, which is why no clock is looked at.
   */
  turnWhereCrowded(owner: unknown): Promise<void> | undefined {
    if (this.length > 0 || this.#isCrowded) return this.turn(owner);
    this.#isCrowded = true;
    setImmediate(() => {
      this.#isCrowded = false;
    });
    return undefined;
  }

  /**
   * As {@link turn}, but waits for no longer than some milliseconds: then it goes on although it may not. Of those to which that
   * happens one goes on in each turn of the event loop, too.
   */
  turnWithin(owner: unknown, longestMs: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        if (!this.#waiting.remove(owner, goOn)) return;
        this.#late.push(owner, goOn);
        this.wake();
      }, longestMs);
      this.#waiting.push(owner, goOn);
      this.wake();
    });
  }

  /** They may be allowed to go on now. */
  wake(): void {
    if (this.#isDue || !this.#mayOneGoOn) return;
    this.#isDue = true;
    setImmediate(() => void this.#onTurn());
  }

  async #onTurn(): Promise<void> {
    const began = performance.now();
    while (this.#mayOneGoOn) {
      (this.#late.shift() ?? this.#waiting.shift())?.();
      if (this.#stretchMs === 0) break;
      await allIsFollowed();
      if (performance.now() - began >= this.#stretchMs) break;
    }
    this.#isDue = false;
    // What is set within this phase of the event loop runs after the next one has looked at the sockets.
    this.wake();
  }

  /** The owner is not there any more: what is to be called for all that wait for it to go on, and find that out. */
  leave(owner: unknown): readonly (() => void)[] {
    return [this.#late, this.#waiting].flatMap((queue) => queue.leave(owner));
  }

  /** All at once. */
  wakeAll(): void {
    for (const queue of [this.#late, this.#waiting]) {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) next();
    }
  }

  get #mayOneGoOn(): boolean {
    return this.#late.length > 0 || (this.#waiting.length > 0 && this.#mayGoOn());
  }
}

/** Resolves when whatever waited for a promise that is settled has gone on, and so has what that has settled. */
function allIsFollowed(): Promise<void> {
  return new Promise((resolve) => {
    // Node.js comes back to its ticks when it has no microtask any more.
    queueMicrotask(() => process.nextTick(resolve));
  });
}
