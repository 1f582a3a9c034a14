import { extend } from '../../api/extend';
import { EtcdClient, pause } from './client';
import { compact, Compactor } from './compactor';
import type { OpenEndpoint, WatchStream } from './endpoint';
import { EtcdError } from './etcd-error';
import type { TlsSource } from './grpc-channel';
import { KeySpace } from './key-space';
import { LeasePool } from './leases';
import {
  range as rangeMethod,
  txn,
  type Put,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
} from './messages';
import { canReportProgress } from './server-version';
import { WatchResponses } from './watch-responses';
import {
  CompactedError,
  StoreClosedError,
  type ListOutcome,
  type ListRange,
  type Revision,
  type Store,
  type StoredValue,
  type StoreSpace,
  type WatchBatch,
  type WatchOptions,
  type WriteOptions,
  type WriteOutcome,
  type Cancellation,
} from '../store';

export interface EtcdStoreOptions {
  /** Such as `https://10.0.0.1:2379`; all of one cluster. */
  readonly endpoints: readonly string[];
  /** Put before every key. Default: nothing. */
  readonly prefix?: string;
  /** Contents of PEM files. Needed for `https` endpoints whose authority is not well known. */
  readonly tls?: TlsSource;
  /** For every single call. Default: 15 seconds. */
  readonly requestTimeoutMs?: number;
  /** How a server is called. Default: over our own channel. */
  readonly openEndpoint?: OpenEndpoint;
  /** Milliseconds, never going back. */
  readonly clock?: () => number;
  /** Is told of watches that lost their server and of compactions that failed; both are tried again. */
  readonly logger?: { warn(details: { readonly err: unknown }, message: string): void };
}

/** Connects to etcd. Rejects with an EtcdError when none of the endpoints answers. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const client = new EtcdClient({
    endpoints: options.endpoints,
    ...(options.tls && { tls: options.tls }),
    requestTimeoutMs: options.requestTimeoutMs ?? 15_000,
    ...(options.openEndpoint && { openEndpoint: options.openEndpoint }),
  });
  try {
    await client.learnVersions();
  } catch (error) {
    client.close();
    throw error;
  }
  return new EtcdStore(client, options);
}

/**
 * Compacts as kube-apiserver does, together with all other replicas: five minutes of history is its default interval.
 * The store stops it when it is closed.
 */
export function startCompactor(store: EtcdStore, intervalMs = 300_000): { stop(): Promise<void> } {
  return store.startCompactor(intervalMs);
}

// Pages of a list are sized to about this many bytes.
const PAGE_BYTES = 8 * 1024 * 1024;
const FIRST_PAGE_KEYS = 500;
const MIN_PAGE_KEYS = 50;
const MAX_PAGE_KEYS = 10_000;

const FIRST_RECONNECT_PAUSE_MS = 50;
const MAX_RECONNECT_PAUSE_MS = 5_000;

/** As a server's status names it. */
const NO_SPACE_ALARM = 'alarm:NOSPACE';

// A key that is never written: asking for it costs nothing but the answer's header.
const NO_KEY = Buffer.from([0]);

/** One stream to one server. */
interface OpenWatch {
  readonly stream: WatchStream;
  readonly responses: WatchResponses;
  readonly endpoint: string;
  readonly close: () => void;
}

export class EtcdStore implements Store {
  readonly #keys: KeySpace;
  readonly #leases: LeasePool;
  readonly #watches = new Set<OpenWatch>();
  readonly #compactors = new Set<Compactor>();
  #closing: Promise<void> | undefined;

  constructor(
    private readonly client: EtcdClient,
    private readonly options: EtcdStoreOptions,
  ) {
    this.#keys = new KeySpace(options.prefix ?? '');
    this.#leases = new LeasePool(client, options.clock ?? (() => performance.now()));
  }

  get reportsProgress(): boolean {
    return this.client.versions?.every(canReportProgress) ?? false;
  }

  async get(key: string, signal?: Cancellation): Promise<StoredValue | undefined> {
    const { pairs } = await this.#range({ key: this.#keys.toEtcd(key) }, signal);
    return pairs[0] && this.#keys.storedValue(pairs[0]);
  }

  async list(range: ListRange, signal?: AbortSignal): Promise<ListOutcome> {
    for (;;) {
      try {
        return await this.#list(range, signal);
      } catch (error) {
        if (!(error instanceof EtcdError && (error.problem === 'compacted' || error.problem === 'future'))) throw error;
        // The newest state was compacted while its pages were read: a newer one can be had.
        if (range.revision === undefined) continue;
        return { ok: false, reason: error.problem, current: await this.currentRevision(signal) };
      }
    }
  }

  create(key: string, value: Uint8Array, options?: WriteOptions, signal?: Cancellation): Promise<WriteOutcome> {
    return this.#put(key, value, 0, options, signal);
  }

  update(
    key: string,
    value: Uint8Array,
    expected: Revision,
    options?: WriteOptions,
    signal?: Cancellation,
  ): Promise<WriteOutcome> {
    return this.#put(key, value, expected, options, signal);
  }

  delete(key: string, expected: Revision, signal?: Cancellation): Promise<WriteOutcome> {
    const bytes = this.#keys.toEtcd(key);
    return this.#write(bytes, expected, { remove: bytes }, signal);
  }

  async *watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    { needsPrevious = true }: WatchOptions = {},
  ): AsyncGenerator<WatchBatch, void> {
    let position = after;
    let pauseMs = FIRST_RECONNECT_PAUSE_MS;
    while (!signal.aborted) {
      try {
        const watch = this.#openWatch(prefix, position, needsPrevious, signal);
        try {
          for await (const responses of watch.stream) {
            const batch = watch.responses.next(responses);
            if (batch === undefined) continue;
            position = batch.revision;
            pauseMs = FIRST_RECONNECT_PAUSE_MS;
            yield batch;
          }
        } catch (error) {
          // A stream that we have ended says nothing against its server.
          if (error instanceof CompactedError || signal.aborted) throw error;
          throw this.client.streamFailed(error, watch.endpoint);
        } finally {
          watch.close();
        }
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof EtcdError) || error.problem === 'denied') throw error;
        this.options.logger?.warn({ err: error }, 'a watch lost its server and resumes');
      }
      await pause(pauseMs, signal);
      pauseMs = Math.min(2 * pauseMs, MAX_RECONNECT_PAUSE_MS);
    }
  }

  #openWatch(prefix: string, position: Revision, withPrevious: boolean, signal: AbortSignal): OpenWatch {
    const range = this.#keys.interval(prefix);
    const { stream, endpoint } = this.client.openWatch({ ...range, startRevision: position + 1, withPrevious });
    const responses = new WatchResponses(this.#keys, position, withPrevious, () => this.reportsProgress);
    const abort = (): void => stream.cancel();
    const close = (): void => {
      signal.removeEventListener('abort', abort);
      this.#watches.delete(watch);
      stream.cancel();
    };
    const watch = { stream, responses, endpoint, close };
    this.#watches.add(watch);
    signal.addEventListener('abort', abort);
    return watch;
  }

  async currentRevision(signal?: AbortSignal): Promise<Revision> {
    const { revision } = await this.#range({ key: NO_KEY, countOnly: true }, signal);
    return revision;
  }

  async requestProgress(): Promise<void> {
    if (this.client.isClosed) throw new StoreClosedError();
    await this.client.learnMissingVersions();
    if (!this.reportsProgress) return;
    for (const { stream, responses } of this.#watches) if (responses.isCreated) stream.requestProgress();
  }

  async compact(revision: Revision, signal?: AbortSignal): Promise<void> {
    await compact(this.client, revision, signal);
  }

  async health(signal?: AbortSignal): Promise<void> {
    const key = this.#keys.toEtcd('health');
    await this.client.call(rangeMethod, { key, countOnly: true }, { isRepeatable: true, signal, maxAttempts: 1 });
  }

  async space(signal?: AbortSignal): Promise<readonly StoreSpace[]> {
    const statuses = await this.client.statuses(signal);
    return statuses.map(({ address, fileBytes, inUseBytes, quotaBytes, errors }) => ({
      endpoint: address,
      fileBytes,
      inUseBytes,
      quotaBytes,
      shortage: errors.some((error) => error.includes(NO_SPACE_ALARM))
        ? `etcd ${address}: its alarm NOSPACE is raised: it takes no writes until it has been compacted, defragmented and disarmed`
        : undefined,
    }));
  }

  /** See {@link startCompactor}. */
  startCompactor(intervalMs: number): { stop(): Promise<void> } {
    const onError = (error: unknown): void => this.options.logger?.warn({ err: error }, 'compaction failed');
    const compactor = new Compactor(this.client, { intervalMs, onError });
    this.#compactors.add(compactor);
    return compactor;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const stopped = [...this.#compactors].map((compactor) => compactor.stop());
    for (const { stream } of this.#watches) stream.cancel();
    this.client.close();
    await Promise.all(stopped);
  }

  #range(request: RangeRequest, signal: Cancellation | undefined): Promise<RangeResponse> {
    return this.client.call(rangeMethod, request, { isRepeatable: true, signal });
  }

  async #list(range: ListRange, signal: AbortSignal | undefined): Promise<ListOutcome> {
    const { key, rangeEnd } = this.#keys.interval(range.prefix, range.start);
    const limit = range.limit ?? Infinity;
    const items: StoredValue[] = [];
    let { revision } = range;
    let from = key;
    let pageKeys = FIRST_PAGE_KEYS;
    for (;;) {
      const request = { key: from, rangeEnd, limit: Math.min(pageKeys, limit - items.length) };
      const page = await this.#range(revision === undefined ? request : { ...request, revision }, signal);
      const { pairs, count } = page;
      revision ??= page.revision;
      let bytes = 0;
      for (const pair of pairs) {
        items.push(this.#keys.storedValue(pair));
        bytes += pair.value.length;
      }
      const remaining = count - pairs.length;
      if (remaining === 0 || items.length >= limit) return { ok: true, revision, items, remaining };
      from = Buffer.concat([pairs.at(-1)!.key, NO_KEY]);
      const fitting = Math.floor((PAGE_BYTES / Math.max(bytes, 1)) * pairs.length);
      pageKeys = Math.min(Math.max(fitting, MIN_PAGE_KEYS), MAX_PAGE_KEYS);
    }
  }

  #put(
    key: string,
    value: Uint8Array,
    expected: number,
    options: WriteOptions | undefined,
    signal: Cancellation | undefined,
  ): Promise<WriteOutcome> {
    const put = { key: this.#keys.toEtcd(key), value };
    return options?.ttlSeconds === undefined
      ? this.#write(put.key, expected, { put }, signal)
      : this.#putFor(options.ttlSeconds, put, expected, signal);
  }

  async #putFor(
    ttlSeconds: number,
    put: Put,
    expected: number,
    signal: Cancellation | undefined,
  ): Promise<WriteOutcome> {
    const lease = await this.#leases.leaseFor(ttlSeconds, signal);
    try {
      return await this.#write(put.key, expected, { put: extend(put, { lease }) }, signal);
    } catch (error) {
      if (!(error instanceof EtcdError && error.problem === 'lease-not-found')) throw error;
      this.#leases.forget(lease);
      const fresh = await this.#leases.leaseFor(ttlSeconds, signal);
      return this.#write(put.key, expected, { put: extend(put, { lease: fresh }) }, signal);
    }
  }

  /** One transaction: the write if the key is at the expected revision (0: absent), else a read of what is there. */
  async #write(
    key: Uint8Array,
    expected: number,
    success: TxnRequest['success'],
    signal: Cancellation | undefined,
  ): Promise<WriteOutcome> {
    const request = { key, expected: { modRevision: expected }, success, failure: { key } };
    const { succeeded, revision, pairs } = await this.#transact(request, expected, signal);
    if (succeeded) return { ok: true, revision };
    return { ok: false, current: pairs[0] && this.#keys.storedValue(pairs[0]) };
  }

  /**
   * A change whose answer was lost is tried once more: a revision never comes back, so of two transactions that insist on
   * it one at most has its effect, however late the other arrives. If the second fails its compare, the first may be the
   * cause, and the outcome stays unknown. A creation (0) would not be safe: the key can have been deleted in between.
   */
  async #transact(request: TxnRequest, expected: number, signal: Cancellation | undefined): Promise<TxnResponse> {
    try {
      return await this.client.call(txn, request, { isRepeatable: false, signal });
    } catch (error) {
      const isLost = error instanceof EtcdError && error.isTransient && !error.isUnsent;
      if (expected === 0 || !isLost) throw error;
      const response = await this.client.call(txn, request, { isRepeatable: false, signal });
      if (!response.succeeded) throw error;
      return response;
    }
  }
}
