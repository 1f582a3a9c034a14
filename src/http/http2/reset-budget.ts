const BURST = 1_000;
const PER_SECOND = 33;

/**
 * How many requests a client may give up before it had an answer. Each has cost us its work and the client nothing: without a
 * limit one connection could have any number of them under way (CVE-2023-44487). The numbers are nghttp2's.
 */
export class ResetBudget {
  #left = BURST;
  #since: number;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.#since = now();
  }

  /** False when there have been too many. */
  spend(): boolean {
    const now = this.now();
    this.#left = Math.min(BURST, this.#left + ((now - this.#since) / 1000) * PER_SECOND) - 1;
    this.#since = now;
    return this.#left >= 0;
  }
}
