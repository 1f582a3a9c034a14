import { LRUCache } from 'lru-cache';

/** Answers that are believed for a while, each for its own time; beyond `max` the least recently used go first. */
export class TtlCache<Value extends object> {
  readonly #remembered: LRUCache<string, Value>;

  /** `clock`: milliseconds, above 0 and never going back. */
  constructor(max: number, clock: () => number) {
    this.#remembered = new LRUCache<string, Value>({ max, ttlResolution: 0, perf: { now: clock } });
  }

  get(key: string): Value | undefined {
    return this.#remembered.get(key);
  }

  /** `ttlMs` 0: not at all. */
  set(key: string, value: Value, ttlMs: number): void {
    // The library takes 0 for ever.
    if (ttlMs > 0) this.#remembered.set(key, value, { ttl: ttlMs });
  }
}
