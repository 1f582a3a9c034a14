export interface BackOffOptions {
  /** Milliseconds. */
  readonly first: number;
  /** By how much each wait is longer than the one before. */
  readonly factor: number;
  /** Milliseconds; absent: no limit. */
  readonly longest?: number;
  /** Up to this share of a wait is added to it at random, so that many do not come back in step. */
  readonly jitter?: number;
}

/** Waits between tries of what fails, each longer than the one before. */
export class BackOff {
  readonly #options: BackOffOptions;
  #next: number;

  constructor(options: BackOffOptions) {
    this.#options = options;
    this.#next = options.first;
  }

  /** How long to wait now, in milliseconds. */
  next(): number {
    const { factor, longest = Infinity, jitter = 0 } = this.#options;
    const wait = this.#next;
    this.#next = Math.min(wait * factor, longest);
    return Math.min(jitter === 0 ? wait : wait * (1 + Math.random() * jitter), longest);
  }

  /** It went well: the next wait is the first again. */
  reset(): void {
    this.#next = this.#options.first;
  }
}
