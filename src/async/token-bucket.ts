/** Lets `burst` events pass at once and `qps` a second in the long run. */
export class TokenBucket {
  readonly #qps: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt: number;

  /** `now`: milliseconds, of any clock that only goes forward. */
  constructor(qps: number, burst: number, now: number) {
    this.#qps = qps;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAt = now;
  }

  /** Takes a token if there is one. */
  take(now: number): boolean {
    const gained = ((now - this.#filledAt) / 1000) * this.#qps;
    this.#tokens = Math.min(this.#burst, this.#tokens + gained);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
