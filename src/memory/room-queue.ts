interface Waiting {
  readonly wake: () => void;
  /** Milliseconds of the monotonic clock. */
  readonly until: number;
}

/** Those that wait until there is room again, or for as long as anybody waits. */
export class RoomQueue {
  /** In the order of their deadlines. */
  #waiting: Waiting[] = [];
  #isWakeDue = false;
  #deadline: NodeJS.Timeout | undefined;

  constructor(
    private readonly hasRoom: () => boolean,
    private readonly longestMs = Infinity,
  ) {}

  /** Resolves when it is worth having a look; whoever finds that there is no room waits for another turn. */
  turn(): Promise<void> {
    return new Promise((wake) => {
      this.#waiting.push({ wake, until: performance.now() + this.longestMs });
      this.#watchDeadline();
    });
  }

  /**
   * There may be room, or somebody has waited long enough: one of them goes on in each turn of the event loop, since it may take
   * all there is. What is dropped for its sake is free before the next one.
   */
  wake(): void {
    if (this.#isWakeDue) return;
    if (!this.#mayWake) return this.#watchDeadline();
    this.#isWakeDue = true;
    setImmediate(() => {
      this.#isWakeDue = false;
      if (this.#mayWake) this.#waiting.shift()?.wake();
      // When the one that was woken has taken what it needs.
      setImmediate(() => this.wake());
    });
  }

  wakeAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    for (const { wake } of waiting) wake();
  }

  get #mayWake(): boolean {
    const first = this.#waiting[0];
    return first !== undefined && (this.hasRoom() || first.until <= performance.now());
  }

  #watchDeadline(): void {
    const first = this.#waiting[0];
    if (first === undefined || first.until === Infinity || this.#deadline !== undefined) return;
    // A timer may come a fraction of a millisecond early.
    const ms = Math.max(1, Math.ceil(first.until - performance.now()));
    this.#deadline = setTimeout(() => {
      this.#deadline = undefined;
      this.wake();
    }, ms);
  }
}
