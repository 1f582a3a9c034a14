import type { MaybePromise } from '../../api/maybe-promise';
import { BackOff } from '../../async/back-off';
import { Turn } from '../../async/turn';
import { loadPages } from '../cache/load-state';
import { isEncrypted } from '../encrypted-prefix';
import { GrpcError } from '../etcd/grpc-error';
import { CompactedError } from '../store';
import type {
  Cancellation,
  ListOutcome,
  ListRange,
  Revision,
  Store,
  StoredValue,
  StoreEvent,
  StoreSpace,
  WatchBatch,
  WatchOptions,
  WriteOptions,
  WriteOutcome,
} from '../store';
import type { TransformerOf } from './providers';
import { identity, type Transformer } from './transformer';

const PAGE_KEYS = 500;
/** After how long a service that could not be asked is asked again. */
const RETRIES = { first: 1_000, factor: 2, longest: 10_000 };
/** With so many of the values that a service could not open it is tried whether it can by now. */
const MAX_SAMPLES = 16;

export interface EncryptedStoreOptions {
  /** What all keys of the registry begin with. */
  readonly keyRoot: string;
  /** Asked for each value, so that it may change. */
  readonly transformerOf: TransformerOf;
  /** The resource that a key belongs to; undefined: it is kept as it is. */
  readonly resourceOf: (key: string) => string | undefined;
  /** Undefined: nothing is counted. */
  readonly metrics: () => TransformationMetrics | undefined;
}

/** What is counted of transformations; durations in seconds. */
export interface TransformationMetrics {
  readonly transformed: (type: 'to_storage' | 'from_storage', prefix: string, failed: boolean, seconds: number) => void;
}

/**
 * A store whose values are encrypted, each as its resource's transformer says, while everybody above sees them as they are meant. A
 * value that cannot be opened comes as it is stored, with the reason (`problem`).
 */
export class EncryptedStore implements Store {
  readonly #store: Store;
  readonly #options: EncryptedStoreOptions;
  /** Values that would be written otherwise today, by their keys. */
  readonly #stale = new Map<string, Revision>();
  readonly #closing = new AbortController();
  /** Aborted when what could not be read may be readable by now: who watches has to read everything again. */
  #readAgain = new AbortController();
  /** The same, for a reader of everything, or one that has not yet begun to watch. */
  #isReadAgainDue = false;
  #watchesOfAll = 0;
  #hasUnreadable = false;
  /** As they are stored. */
  readonly #samples: StoredValue[] = [];
  readonly #retries = new BackOff(RETRIES);
  #retry: NodeJS.Timeout | undefined;

  constructor(store: Store, options: EncryptedStoreOptions) {
    this.#store = store;
    this.#options = options;
  }

  get reportsProgress(): boolean {
    return this.#store.reportsProgress;
  }

  needsRewrite(key: string, revision: Revision): boolean {
    return this.#stale.get(key) === revision;
  }

  async get(key: string, signal?: Cancellation): Promise<StoredValue | undefined> {
    const value = await this.#store.get(key, signal);
    return value && this.#opened(value);
  }

  async list(range: ListRange, signal?: AbortSignal): Promise<ListOutcome> {
    const outcome = await this.#store.list(range, signal);
    if (!outcome.ok) return outcome;
    const items: StoredValue[] = [];
    const turn = new Turn('decrypting stored values');
    for (const item of outcome.items) {
      const opened = this.#opened(item);
      items.push(opened instanceof Promise ? await opened : opened);
      if (turn.isOver) await turn.next();
    }
    return { ...outcome, items };
  }

  async create(key: string, value: Uint8Array, options?: WriteOptions, signal?: Cancellation): Promise<WriteOutcome> {
    const sealed = await this.#sealed(key, value);
    return this.#openedOutcome(await this.#store.create(key, sealed, options, signal));
  }

  async update(
    key: string,
    value: Uint8Array,
    expected: Revision,
    options?: WriteOptions,
    signal?: Cancellation,
  ): Promise<WriteOutcome> {
    const sealed = await this.#sealed(key, value);
    const outcome = await this.#store.update(key, sealed, expected, options, signal);
    if (outcome.ok) this.#stale.delete(key);
    return this.#openedOutcome(outcome);
  }

  async delete(key: string, expected: Revision, signal?: Cancellation): Promise<WriteOutcome> {
    const outcome = await this.#store.delete(key, expected, signal);
    if (outcome.ok) this.#stale.delete(key);
    return this.#openedOutcome(outcome);
  }

  async *watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    options?: WatchOptions,
  ): AsyncGenerator<WatchBatch> {
    const isOfAll = prefix === this.#options.keyRoot;
    if (isOfAll && this.#isReadAgainDue) {
      this.#isReadAgainDue = false;
      throw new CompactedError(after);
    }
    const readAgain = this.#readAgain.signal;
    if (isOfAll) this.#watchesOfAll++;
    try {
      for await (const batch of this.#store.watch(prefix, after, AbortSignal.any([signal, readAgain]), options)) {
        const events: StoreEvent[] = [];
        for (const event of batch.events) {
          const opened = this.#openedEvent(event);
          events.push(opened instanceof Promise ? await opened : opened);
        }
        yield { revision: batch.revision, events };
      }
    } finally {
      if (isOfAll) this.#watchesOfAll--;
    }
    if (readAgain.aborted && !signal.aborted) throw new CompactedError(after);
  }

  /** Values are encrypted otherwise from now on: finds out which are to be written again. */
  changed(failed: (error: unknown) => void): void {
    if (this.#hasUnreadable) this.#haveReadAgain();
    this.#lookAtAll().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) failed(error);
    });
  }

  #haveReadAgain(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#hasUnreadable = false;
    this.#samples.length = 0;
    this.#retries.reset();
    if (this.#watchesOfAll === 0) this.#isReadAgainDue = true;
    this.#readAgain.abort();
    this.#readAgain = new AbortController();
  }

  /** A service that could not be asked may be there later. */
  #readLater(value: StoredValue): void {
    const at = this.#samples.length < MAX_SAMPLES ? this.#samples.length : Math.floor(Math.random() * MAX_SAMPLES);
    this.#samples[at] = value;
    this.#tryLater();
  }

  #tryLater(): void {
    if (this.#closing.signal.aborted) return;
    this.#retry ??= setTimeout(() => void this.#tryNow(), this.#retries.next()).unref();
  }

  /** To read everything anew is worth it once anything of it can be opened. */
  async #tryNow(): Promise<void> {
    const readAgain = this.#readAgain;
    for (const { key, value } of [...this.#samples]) {
      try {
        await this.#transformerOf(key)?.open(value, key);
        // Unless that has been done meanwhile.
        if (readAgain === this.#readAgain) this.#haveReadAgain();
        return;
      } catch {
        // Another one, perhaps.
      }
    }
    this.#retry = undefined;
    this.#tryLater();
  }

  async #lookAtAll(): Promise<void> {
    const pages = loadPages(this, this.#options.keyRoot, PAGE_KEYS, this.#closing.signal);
    // To read a value is to note whether it is stale.
    for await (const page of pages) void page;
  }

  currentRevision(signal?: AbortSignal): Promise<Revision> {
    return this.#store.currentRevision(signal);
  }

  requestProgress(): Promise<void> {
    return this.#store.requestProgress();
  }

  compact(revision: Revision, signal?: AbortSignal): Promise<void> {
    return this.#store.compact(revision, signal);
  }

  health(signal?: AbortSignal): Promise<void> {
    return this.#store.health(signal);
  }

  space(signal?: AbortSignal): Promise<readonly StoreSpace[]> {
    return this.#store.space(signal);
  }

  close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#retry);
    return this.#store.close();
  }

  /** Undefined: the key is of no resource. */
  #transformerOf(key: string): Transformer | undefined {
    const resource = this.#options.resourceOf(key);
    return resource === undefined ? undefined : this.#options.transformerOf(resource);
  }

  #sealed(key: string, value: Uint8Array): MaybePromise<Uint8Array> {
    const transformer = this.#transformerOf(key);
    if (transformer === undefined || transformer === identity) return value;
    return this.#measured('to_storage', transformer, () => transformer.seal(value, key));
  }

  #opened(stored: StoredValue): MaybePromise<StoredValue> {
    const { key, value, revision } = stored;
    const transformer = this.#transformerOf(key);
    if (transformer === undefined) return stored;
    if (transformer === identity && !isEncrypted(value)) return stored;
    const read = (opened: { readonly value: Buffer; readonly isStale: boolean }): StoredValue => {
      this.#note(key, revision, opened.isStale);
      return { ...stored, value: opened.value };
    };
    const failed = (error: unknown): StoredValue => {
      this.#hasUnreadable = true;
      return { ...stored, problem: (error as Error).message };
    };
    try {
      const opened = this.#measured('from_storage', transformer, () => transformer.open(value, key));
      if (!(opened instanceof Promise)) return read(opened);
      return opened.then(read, (error: unknown) => {
        if (error instanceof GrpcError) this.#readLater(stored);
        return failed(error);
      });
    } catch (error) {
      return failed(error);
    }
  }

  #note(key: string, revision: Revision, isStale: boolean): void {
    const known = this.#stale.get(key);
    if (isStale) {
      if (known === undefined || known < revision) this.#stale.set(key, revision);
    } else if (known !== undefined && known <= revision) this.#stale.delete(key);
  }

  #openedEvent(event: StoreEvent): MaybePromise<StoreEvent> {
    const { previous } = event;
    if (event.type === 'delete') {
      this.#stale.delete(event.key);
      return previous === undefined ? event : this.#withPrevious(event, previous);
    }
    const opened = this.#opened(event);
    const withValue = ({ value, problem }: StoredValue): MaybePromise<StoreEvent> => {
      const put = { ...event, value, ...(problem === undefined ? {} : { problem }) };
      return previous === undefined ? put : this.#withPrevious(put, previous);
    };
    return opened instanceof Promise ? opened.then(withValue) : withValue(opened);
  }

  #withPrevious(event: StoreEvent, previous: StoredValue): MaybePromise<StoreEvent> {
    const opened = this.#opened(previous);
    return opened instanceof Promise
      ? opened.then((value) => ({ ...event, previous: value }))
      : { ...event, previous: opened };
  }

  async #openedOutcome(outcome: WriteOutcome): Promise<WriteOutcome> {
    if (outcome.ok || outcome.current === undefined) return outcome;
    return { ok: false, current: await this.#opened(outcome.current) };
  }

  #measured<T>(
    type: 'to_storage' | 'from_storage',
    { prefix }: Transformer,
    work: () => MaybePromise<T>,
  ): MaybePromise<T> {
    const metrics = this.#options.metrics();
    if (metrics === undefined) return work();
    const started = performance.now();
    const finish = (failed: boolean): void =>
      metrics.transformed(type, prefix.toString(), failed, (performance.now() - started) / 1000);
    try {
      const result = work();
      if (!(result instanceof Promise)) finish(false);
      else
        result.then(
          () => finish(false),
          () => finish(true),
        );
      return result;
    } catch (error) {
      finish(true);
      throw error;
    }
  }
}
