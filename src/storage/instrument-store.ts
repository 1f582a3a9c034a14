import type {
  Cancellation,
  ListRange,
  Revision,
  Store,
  StoredValue,
  StoreSpace,
  WatchBatch,
  WatchOptions,
  WriteOptions,
  WriteOutcome,
} from './store';

export type StoreOperation =
  'get' | 'list' | 'create' | 'update' | 'delete' | 'currentRevision' | 'requestProgress' | 'compact' | 'health';

/** One request to the store, when it is over. Watches are not requests. */
export interface StoreCall {
  readonly operation: StoreOperation;
  /** The key, or the prefix of a list; empty when the operation has none. For grouping by resource, not as a label. */
  readonly key: string;
  readonly durationSeconds: number;
  /** `rejected`: the store answered that the compare failed, or that the revision is not there. */
  readonly outcome: 'ok' | 'rejected' | 'error';
}

/** A store that tells `record` of every request. `now` gives milliseconds that never go back. */
export function instrumentStore(
  store: Store,
  record: (call: StoreCall) => void,
  now: () => number = () => performance.now(),
): Store {
  return new InstrumentedStore(store, record, now);
}

class InstrumentedStore implements Store {
  constructor(
    private readonly store: Store,
    private readonly record: (call: StoreCall) => void,
    private readonly now: () => number,
  ) {}

  get reportsProgress(): boolean {
    return this.store.reportsProgress;
  }

  get(key: string, signal?: Cancellation): Promise<StoredValue | undefined> {
    return this.measured('get', key, this.now(), this.store.get(key, signal), signal);
  }

  list(range: ListRange, signal?: AbortSignal): ReturnType<Store['list']> {
    return this.measured('list', range.prefix, this.now(), this.store.list(range, signal));
  }

  create(key: string, value: Uint8Array, options?: WriteOptions, signal?: Cancellation): Promise<WriteOutcome> {
    return this.measured('create', key, this.now(), this.store.create(key, value, options, signal), signal);
  }

  update(
    key: string,
    value: Uint8Array,
    expected: Revision,
    options?: WriteOptions,
    signal?: Cancellation,
  ): Promise<WriteOutcome> {
    return this.measured('update', key, this.now(), this.store.update(key, value, expected, options, signal), signal);
  }

  delete(key: string, expected: Revision, signal?: Cancellation): Promise<WriteOutcome> {
    return this.measured('delete', key, this.now(), this.store.delete(key, expected, signal), signal);
  }

  watch(prefix: string, after: Revision, signal: AbortSignal, options?: WatchOptions): AsyncIterable<WatchBatch> {
    return this.store.watch(prefix, after, signal, options);
  }

  currentRevision(signal?: AbortSignal): Promise<Revision> {
    return this.measured('currentRevision', '', this.now(), this.store.currentRevision(signal));
  }

  requestProgress(): Promise<void> {
    return this.measured('requestProgress', '', this.now(), this.store.requestProgress());
  }

  compact(revision: Revision, signal?: AbortSignal): Promise<void> {
    return this.measured('compact', '', this.now(), this.store.compact(revision, signal));
  }

  health(signal?: AbortSignal): Promise<void> {
    return this.measured('health', '', this.now(), this.store.health(signal));
  }

  space(signal?: AbortSignal): Promise<readonly StoreSpace[]> {
    return this.store.space(signal);
  }

  needsRewrite(key: string, revision: Revision): boolean {
    return this.store.needsRewrite?.(key, revision) ?? false;
  }

  close(): Promise<void> {
    return this.store.close();
  }

  /** The call's own promise: its caller waits no turn longer. The time is taken before the call is made. */
  private measured<T>(
    operation: StoreOperation,
    key: string,
    started: number,
    call: Promise<T>,
    caller?: Cancellation,
  ): Promise<T> {
    const finish = (outcome: StoreCall['outcome']): void =>
      this.record({ operation, key, outcome, durationSeconds: (this.now() - started) / 1000 });
    call.then(
      (response) => finish(isRejection(response) ? 'rejected' : 'ok'),
      () => finish('error'),
    );
    const trace = caller?.trace;
    return trace === undefined ? call : trace.observe(`etcd ${operation}`, { 'db.key': key }, call);
  }
}

function isRejection(response: unknown): boolean {
  return typeof response === 'object' && response !== null && 'ok' in response && response.ok === false;
}
