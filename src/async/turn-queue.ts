import { FairQueue } from './fair-queue';

const always = (): boolean => true;

/**
 * Those that wait until they may go on: owners take turns, and one of those who wait goes on in each turn of the event loop,
 * so that what others have sent meanwhile is looked at in between.
 */
export class TurnQueue {
  readonly #waiting = new FairQueue<() => void>();
  /** Those that have waited for long enough. */
  readonly #late = new FairQueue<() => void>();
  #isDue = false;

  /** `mayGoOn`: asked before each; while it says no, all wait, until {@link wake} is called. */
  constructor(private readonly mayGoOn: () => boolean = always) {}

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
    setImmediate(() => {
      this.#isDue = false;
      if (!this.#mayOneGoOn) return;
      (this.#late.shift() ?? this.#waiting.shift())?.();
      // One that is set within this phase of the event loop runs after the next one has looked at the sockets.
      this.wake();
    });
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
    return this.#late.length > 0 || (this.#waiting.length > 0 && this.mayGoOn());
  }
}
