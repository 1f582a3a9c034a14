import type { Revision, Store, StoreEvent, WatchBatch, WatchOptions } from '../../src/storage/store';

const PATIENCE_MS = 10_000;

/** Consumes one watch in the background, and lets a test wait for what it has seen. */
export class WatchRecorder {
  readonly batches: WatchBatch[] = [];
  readonly #abort = new AbortController();
  readonly #done: Promise<void>;
  #outcome: { readonly error: unknown } | 'running' | 'ended' = 'running';
  #wake: () => void = () => undefined;

  constructor(store: Store, prefix: string, after: Revision, options?: WatchOptions) {
    this.#done = this.#consume(store.watch(prefix, after, this.#abort.signal, options));
  }

  get events(): readonly StoreEvent[] {
    return this.batches.flatMap((batch) => batch.events);
  }

  /** Resolves when the condition holds; rejects when the watch ends first, or after ten seconds. */
  async until(condition: (recorder: this) => boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!condition(this)) {
      if (typeof this.#outcome === 'object') throw this.#outcome.error;
      if (this.#outcome === 'ended') throw new Error('the watch ended early');
      if (Date.now() > deadline) throw new Error(`gave up waiting after ${this.events.length} events`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 200);
      });
    }
  }

  async untilEvents(count: number): Promise<readonly StoreEvent[]> {
    await this.until(() => this.events.length >= count);
    return this.events;
  }

  /** Aborts the watch and waits for its end; throws what the watch threw. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.end();
  }

  /** Waits until the watch ends by itself; throws what it threw. */
  async end(): Promise<void> {
    await this.#done;
    if (typeof this.#outcome === 'object') throw this.#outcome.error;
  }

  async #consume(watch: AsyncIterable<WatchBatch>): Promise<void> {
    try {
      for await (const batch of watch) {
        this.batches.push(batch);
        this.#wake();
      }
      this.#outcome = 'ended';
    } catch (error) {
      this.#outcome = { error };
    }
    this.#wake();
  }
}
