/** Those that wait until there is room again. */
export class RoomQueue {
  #waiting: (() => void)[] = [];
  #isWakeDue = false;

  constructor(private readonly hasRoom: () => boolean) {}

  /** Resolves when it is worth having a look; whoever finds that there is no room waits for another turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** There may be room: one of them has a look in each turn of the event loop, since it may take all there is. */
  wake(): void {
    if (this.#isWakeDue || this.#waiting.length === 0 || !this.hasRoom()) return;
    this.#isWakeDue = true;
    setImmediate(() => {
      this.#isWakeDue = false;
      if (this.hasRoom()) this.#waiting.shift()?.();
      // When the one that was woken has taken what it needs.
      setImmediate(() => this.wake());
    });
  }

  wakeAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
