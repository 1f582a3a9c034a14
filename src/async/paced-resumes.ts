import { FairQueue } from './fair-queue';

/** For how long those that have waited go on one after another before the loop has to have turned. */
const STRETCH_MS = 4;

/**
 * Lets promises go on that others have waited for. What goes on as soon as something else has ended, and soon ends itself, would go on and
 * on without the event loop ever turning: one begins right away, and those that could begin in the same turn of the loop wait for the next
 * ones, in which owners take turns and as many go on as have time.
 */
export class PacedResumes {
  readonly #waiting = new FairQueue<() => void>();
  /** One has gone on in this turn of the loop, or others wait for the next one. */
  #isWatching = false;

  /** Calls `goOn`, now or in a later turn of the loop. */
  resume(owner: unknown, goOn: () => void): void {
    if (this.#isWatching) {
      this.#waiting.push(owner, goOn);
      return;
    }
    this.#watch();
    goOn();
  }

  #watch(): void {
    this.#isWatching = true;
    setImmediate(() => void this.#onTurn());
  }

  async #onTurn(): Promise<void> {
    const began = performance.now();
    while (this.#waiting.length > 0 && performance.now() - began < STRETCH_MS) {
      this.#waiting.shift()?.();
      await allIsFollowed();
    }
    if (this.#waiting.length > 0) this.#watch();
    else this.#isWatching = false;
  }
}

/** Resolves when whatever waits for a promise that is settled has gone on, and so has what that has settled. */
function allIsFollowed(): Promise<void> {
  return new Promise((resolve) => {
    // Node.js comes back to its ticks when it has no microtask any more.
    queueMicrotask(() => process.nextTick(resolve));
  });
}
