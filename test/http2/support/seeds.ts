import { setTimeout as sleep } from 'node:timers/promises';

/** `STERNPOST_SEED=17 STERNPOST_RUNS=1` repeats the run that failed with seed 17; more runs look for more. */
const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);
const RUNS = process.env['STERNPOST_RUNS'];
/** Far more than a run takes on a busy machine. */
const MAX_RUN_MS = 30_000;

/** Random numbers that a seed repeats (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 up to, and without, `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end) | 0;
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!;
  }

  /** Once in so many times. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  /** Mostly small ones. */
  size(limit: number): number {
    return this.below(this.pick([2, 100, Math.min(limit, 5_000), limit]) + 1);
  }
}

/** Runs with seeds in a row, each in its time; says which of them failed. */
export async function forEachSeed(runs: number, run: (random: Random) => Promise<void>): Promise<void> {
  const count = RUNS === undefined ? runs : Number(RUNS);
  for (let seed = SEED; seed < SEED + count; seed++) {
    const clock = new AbortController();
    try {
      const late = sleep(MAX_RUN_MS, undefined, { signal: clock.signal }).then(() => {
        throw new Error('the run does not end');
      });
      await Promise.race([run(new Random(seed)), late]);
    } catch (error) {
      throw new Error(`seed ${seed} (STERNPOST_SEED=${seed} STERNPOST_RUNS=1 repeats it)`, { cause: error });
    } finally {
      clock.abort();
    }
  }
}

/** Jest's limit for so many runs. */
export function timeoutOf(runs: number): number {
  return 60_000 + 1_000 * Number(RUNS ?? runs);
}
