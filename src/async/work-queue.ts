/**
 * Keys waiting for a worker. A key stands in the queue once; one that is added while it is worked on is worked on again
 * afterwards; a failed one comes back after a growing delay.
 */
export class WorkQueue {
  readonly #work: (key: string) => Promise<void>;
  readonly #failed: (key: string, error: unknown) => void;
  readonly #waiting = new Set<string>();
  readonly #active = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  static readonly MAX_ACTIVE = 10;
  static readonly FIRST_RETRY_MS = 20;
  static readonly MAX_RETRY_MS = 30_000;

  constructor(work: (key: string) => Promise<void>, failed: (key: string, error: unknown) => void) {
    this.#work = work;
    this.#failed = failed;
  }

  add(key: string): void {
    if (this.#closed) return;
    this.#waiting.add(key);
    this.#startWaiting();
  }

  addAfter(key: string, milliseconds: number): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.add(key);
    }, milliseconds);
    this.#timers.add(timer);
  }

  /** Starts nothing more; resolves when the keys being worked on are done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    await Promise.all(this.#active.values());
  }

  #startWaiting(): void {
    for (const key of this.#waiting) {
      if (this.#active.size >= WorkQueue.MAX_ACTIVE) return;
      if (this.#active.has(key)) continue;
      this.#waiting.delete(key);
      const done = this.#run(key).finally(() => {
        this.#active.delete(key);
        this.#startWaiting();
      });
      this.#active.set(key, done);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      await this.#work(key);
      this.#failures.delete(key);
    } catch (error) {
      if (this.#closed) return;
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.#failed(key, error);
      this.addAfter(key, Math.min(WorkQueue.FIRST_RETRY_MS * 2 ** failures, WorkQueue.MAX_RETRY_MS));
    }
  }
}
