import {
  StoreFailure,
  type ListRange,
  type Revision,
  type Store,
  type StoredValue,
  type StoreSpace,
  type WatchBatch,
  type WatchOptions,
  type WriteOptions,
  type WriteOutcome,
} from '../../src/storage/store';

/** A store whose watches can be broken and held up, whose answers can be lost, and which counts what it is asked. */
export class FaultyStore implements Store {
  asks = 0;
  progressRequests = 0;
  /** The prefix of every watch that was ever opened. */
  readonly watched: string[] = [];
  /** Errors that the next lists reject with. */
  readonly listErrors: Error[] = [];
  /** Errors that the next writes reject with, though they happen. */
  readonly lostResponses: Error[] = [];
  /** Writes of these keys fail, and do not happen. */
  refuses: (key: string) => boolean = () => false;
  /** What an ask for the newest revision waits for. */
  beforeAsk: () => Promise<void> = async () => undefined;
  reportsProgress: boolean;

  private readonly open = new Set<AbortController>();
  private gate: { readonly prefix: string | undefined; readonly opened: Promise<void> } | undefined;

  constructor(private readonly store: Store) {
    this.reportsProgress = store.reportsProgress;
  }

  /** Every open watch throws `error`. */
  breakWatches(error: Error = new Error('the connection was lost')): void {
    for (const controller of this.open) controller.abort(error);
  }

  /** Keeps back what watches (of this very prefix) would give, until the returned function is called. */
  holdWatches(prefix?: string): () => void {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const release = (): void => {
      this.gate = undefined;
      open();
    };
    this.gate = { prefix, opened };
    return release;
  }

  async *watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    options?: WatchOptions,
  ): AsyncGenerator<WatchBatch> {
    this.watched.push(prefix);
    const broken = new AbortController();
    this.open.add(broken);
    try {
      for await (const batch of this.store.watch(prefix, after, AbortSignal.any([signal, broken.signal]), options)) {
        if (this.gate !== undefined && (this.gate.prefix ?? prefix) === prefix)
          await Promise.race([this.gate.opened, aborted(signal), aborted(broken.signal)]);
        if (signal.aborted || broken.signal.aborted) break;
        yield batch;
      }
      if (broken.signal.aborted && !signal.aborted) throw broken.signal.reason;
    } finally {
      this.open.delete(broken);
    }
  }

  async list(range: ListRange, signal?: AbortSignal): ReturnType<Store['list']> {
    const error = this.listErrors.shift();
    if (error !== undefined) throw error;
    return this.store.list(range, signal);
  }

  async currentRevision(signal?: AbortSignal): Promise<Revision> {
    this.asks++;
    await this.beforeAsk();
    return this.store.currentRevision(signal);
  }

  requestProgress(): Promise<void> {
    this.progressRequests++;
    return this.store.requestProgress();
  }

  get(key: string, signal?: AbortSignal): Promise<StoredValue | undefined> {
    return this.store.get(key, signal);
  }

  create(key: string, value: Uint8Array, options?: WriteOptions, signal?: AbortSignal): Promise<WriteOutcome> {
    return this.respond(key, () => this.store.create(key, value, options, signal));
  }

  update(
    key: string,
    value: Uint8Array,
    expected: Revision,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<WriteOutcome> {
    return this.respond(key, () => this.store.update(key, value, expected, options, signal));
  }

  delete(key: string, expected: Revision, signal?: AbortSignal): Promise<WriteOutcome> {
    return this.respond(key, () => this.store.delete(key, expected, signal));
  }

  compact(revision: Revision, signal?: AbortSignal): Promise<void> {
    return this.store.compact(revision, signal);
  }

  health(signal?: AbortSignal): Promise<void> {
    return this.store.health(signal);
  }

  space(signal?: AbortSignal): Promise<readonly StoreSpace[]> {
    return this.store.space(signal);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  private async respond(key: string, write: () => Promise<WriteOutcome>): Promise<WriteOutcome> {
    if (this.refuses(key)) throw new StoreFailure(`${key} is refused`, 'refused');
    const lost = this.lostResponses.shift();
    if (lost === undefined) return write();
    return write().then(() => {
      throw lost;
    });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
