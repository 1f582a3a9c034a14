const BURST = 1_000;
const PER_SECOND = 33;

/** What is spent for a request that was answered with a refusal of ours, or given up before it had an answer. */
export const WHOLE_RESET = 1;
/**
 * For one that was given up after the head of its answer, as watches are. A client that restarts all 250 watches of its
 * connection at once spends an eighth of the budget, a kubelet that drains a node of 110 pods with five watches each a quarter.
 */
export const WATCH_RESET = 0.5;

/**
 * How many requests a client may give up or get wrong. Each has cost us its work and the client nothing: without a limit one
 * connection could have any number of them under way (CVE-2023-44487). The numbers are nghttp2's.
 */
export class ResetBudget {
  #left = BURST;
  #since: number;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.#since = now();
  }

  /** False when there have been too many. */
  spend(cost: number): boolean {
    const now = this.now();
    this.#left = Math.min(BURST, this.#left + ((now - this.#since) / 1000) * PER_SECOND) - cost;
    this.#since = now;
    return this.#left >= 0;
  }
}
