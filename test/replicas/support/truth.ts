import type { TruthEvent } from '../../history/history';
import type { Revision, Store } from '../../../src/storage/store';
import type { Json } from './http-client';
import { patiently } from './patiently';
import { fieldsOf } from './recorder';

/** Writes down what a store says happened below a prefix, from a revision on, until it has reached another. */
export class TruthRecorder {
  readonly events: TruthEvent[] = [];
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #failure: unknown;

  constructor(
    private readonly store: Store,
    private readonly prefix: string,
    after: Revision,
  ) {
    this.#done = this.run(after).catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** Everything up to the store's newest revision, which is returned too. */
  async finish(): Promise<{ readonly events: readonly TruthEvent[]; readonly last: number }> {
    const standing = await patiently(() => this.store.list({ prefix: this.prefix }));
    if (!standing.ok) throw new Error('the newest state cannot be read');
    const last = Math.max(0, ...standing.items.map(({ revision }) => revision));
    const deadline = Date.now() + 20_000;
    // Deletions after the last put leave no trace in the state; they come with it or within the pause below.
    while ((this.events.at(-1)?.revision ?? 0) < last) {
      if (this.#failure !== undefined) throw this.#failure as Error;
      if (Date.now() > deadline) throw new Error('the store does not tell of its newest revision');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    await this.stop();
    return { events: this.events, last: this.events.at(-1)?.revision ?? 0 };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  private async run(after: Revision): Promise<void> {
    for await (const { events } of this.store.watch(this.prefix, after, this.#stop.signal)) {
      for (const event of events) {
        const value = event.type === 'put' ? event.value : event.previous!.value;
        const object = JSON.parse(value.toString()) as Json;
        this.events.push({
          type: event.type,
          key: event.key.slice(this.prefix.length),
          revision: event.revision,
          uid: object.metadata.uid,
          fields: fieldsOf(object),
        });
      }
    }
  }
}
