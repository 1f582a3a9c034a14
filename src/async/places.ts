/** So many may do something at once; others wait for their place, first come, first served. */
export class Places {
  readonly #waiting = new Set<(found: boolean) => void>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** True: a place has been found in time, which is to be released. */
  acquire(timeoutMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (found: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(settle);
        resolve(found);
      };
      const timer = setTimeout(() => settle(false), timeoutMs);
      this.#waiting.add(settle);
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else next(true);
  }
}
