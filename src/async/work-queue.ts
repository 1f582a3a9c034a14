import { BackOff } from './back-off';

/** What is measured of a queue (kube-controller-manager's `workqueue_*`); durations in milliseconds. */
export interface QueueMetrics {
  readonly added: () => void;
  readonly retried: () => void;
  /** A key was waiting for this long. */
  readonly taken: (waitedMs: number) => void;
  readonly done: (workedMs: number) => void;
}

export interface WorkQueueOptions {
  /** How many keys are worked on at once. */
  readonly maxActive?: number;
  /** Keys wait until `resume`. */
  readonly paused?: boolean;
  /** Asked for once, before there is a key. */
  readonly metrics?: (queue: WorkQueue) => QueueMetrics | undefined;
}

const RETRIES = { first: 20, factor: 2, longest: 30_000 };

/**
 * Keys waiting for a worker. A key stands in the queue once; one that is added while it is worked on is worked on again
 * afterwards; a failed one comes back after a growing delay.
 */
export class WorkQueue {
  readonly #work: (key: string) => Promise<void>;
  readonly #failed: (key: string, error: unknown) => void;
  readonly #maxActive: number;
  readonly #metrics: QueueMetrics | undefined;
  /** By key, since when; milliseconds of the monotonic clock. */
  readonly #waiting = new Map<string, number>();
  readonly #active = new Map<string, Promise<void>>();
  readonly #startedAt = new Map<string, number>();
  /** Of keys that have failed since they last went well. */
  readonly #backOffs = new Map<string, BackOff>();
  /** By key, of those that come later; `at` in milliseconds of the monotonic clock. */
  readonly #timers = new Map<string, { readonly timer: NodeJS.Timeout; readonly at: number }>();
  #paused: boolean;
  #closed = false;

  static readonly MAX_ACTIVE = 10;

  constructor(
    work: (key: string) => Promise<void>,
    failed: (key: string, error: unknown) => void,
    { maxActive = WorkQueue.MAX_ACTIVE, paused = false, metrics }: WorkQueueOptions = {},
  ) {
    this.#work = work;
    this.#failed = failed;
    this.#maxActive = maxActive;
    this.#paused = paused;
    this.#metrics = metrics?.(this);
  }

  get depth(): number {
    return this.#waiting.size;
  }

  /** Since when each key that is worked on has been; milliseconds of the monotonic clock. */
  activeSince(): Iterable<number> {
    return this.#startedAt.values();
  }

  add(key: string): void {
    if (this.#closed || this.#waiting.has(key)) return;
    this.#waiting.set(key, performance.now());
    this.#metrics?.added();
    this.#startWaiting();
  }

  /** The earliest time that was asked for counts. */
  addAfter(key: string, milliseconds: number): void {
    const at = performance.now() + milliseconds;
    const known = this.#timers.get(key);
    if (this.#closed || (known !== undefined && known.at <= at)) return;
    clearTimeout(known?.timer);
    const timer = setTimeout(() => {
      this.#timers.delete(key);
      this.add(key);
    }, milliseconds);
    this.#timers.set(key, { timer, at });
  }

  /** Starts nothing more until `resume`. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#startWaiting();
  }

  /** Starts nothing more; resolves when the keys being worked on are done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await Promise.all(this.#active.values());
  }

  #startWaiting(): void {
    if (this.#paused || this.#active.size >= this.#maxActive) return;
    for (const [key, since] of this.#waiting) {
      if (this.#active.size >= this.#maxActive) return;
      if (this.#active.has(key)) continue;
      this.#waiting.delete(key);
      this.#start(key, since);
    }
  }

  #start(key: string, since: number): void {
    const now = performance.now();
    this.#metrics?.taken(now - since);
    this.#startedAt.set(key, now);
    const done = this.#run(key).finally(() => {
      this.#active.delete(key);
      this.#startedAt.delete(key);
      this.#metrics?.done(performance.now() - now);
      this.#startWaiting();
    });
    this.#active.set(key, done);
  }

  async #run(key: string): Promise<void> {
    try {
      await this.#work(key);
      this.#backOffs.delete(key);
    } catch (error) {
      if (this.#closed) return;
      const backOff = this.#backOffs.get(key) ?? new BackOff(RETRIES);
      this.#backOffs.set(key, backOff);
      this.#failed(key, error);
      this.#metrics?.retried();
      this.addAfter(key, backOff.next());
    }
  }
}
