import { FairQueue } from './fair-queue';

const always = (): boolean => true;

/**
 * Those that wait until they may go on: owners take turns, and one of those who wait goes on in each turn of the event loop,
 * so that what others have sent meanwhile is looked at in between.
 */
export class TurnQueue {
  readonly #waiting = new FairQueue<() => void>();
  #isDue = false;

  /** `mayGoOn`: asked before each; while it says no, all wait, and whoever changes that calls {@link wake}. */
  constructor(private readonly mayGoOn: () => boolean = always) {}

  get length(): number {
    return this.#waiting.length;
  }

  /** Resolves when it is the owner's turn. Whoever then finds that others have taken what there was waits again. */
  turn(owner: unknown): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(owner, resolve);
      this.wake();
    });
  }

  /** They may be allowed to go on now. */
  wake(): void {
    if (this.#isDue || this.#waiting.length === 0 || !this.mayGoOn()) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (!this.mayGoOn()) return;
      this.#waiting.shift()?.();
      // One that is set within this phase of the event loop runs after the next one has looked at the sockets.
      this.wake();
    });
  }

  /** All at once. */
  wakeAll(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) next();
  }
}
