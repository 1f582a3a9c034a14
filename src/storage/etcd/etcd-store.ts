import type { ICompare, IRangeRequest, IRequestOp, IRangeResponse } from 'etcd3';
import { EtcdClient, pause } from './client';
import { compact, Compactor } from './compactor';
import type { TlsFiles, WatchStream } from './endpoint';
import { EtcdError } from './etcd-error';
import { KeySpace, toRevision } from './key-space';
import { LeasePool } from './leases';
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
  type WatchBatch,
  type WriteOptions,
  type WriteOutcome,
} from '../store';

export interface EtcdStoreOptions {
  /** Such as `https://10.0.0.1:2379`; all of one cluster. */
  readonly endpoints: readonly string[];
  /** Put before every key. Default: nothing. */
  readonly prefix?: string;
  /** Contents of PEM files. Needed for `https` endpoints whose authority is not well known. */
  readonly tls?: TlsFiles;
  /** For every single call. Default: 15 seconds. */
  readonly requestTimeoutMs?: number;
  /** Milliseconds since 1970. */
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
const PAGE_BYTES = 4 * 1024 * 1024;
const FIRST_PAGE_KEYS = 500;
const MIN_PAGE_KEYS = 50;
const MAX_PAGE_KEYS = 10_000;

const FIRST_RECONNECT_PAUSE_MS = 50;
const MAX_RECONNECT_PAUSE_MS = 5_000;

// A key that nobody writes: asking for it costs nothing but the answer's header.
const NO_KEY = Buffer.from([0]);

interface OpenWatch {
  readonly stream: WatchStream;
  readonly responses: WatchResponses;
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
    this.#leases = new LeasePool(client, options.clock ?? Date.now);
  }

  get reportsProgress(): boolean {
    return this.client.versions?.every(canReportProgress) ?? false;
  }

  async get(key: string, signal?: AbortSignal): Promise<StoredValue | undefined> {
    const { kvs } = await this.#range({ key: this.#keys.toEtcd(key) }, signal);
    return kvs[0] && this.#keys.storedValue(kvs[0]);
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

  create(key: string, value: Uint8Array, options?: WriteOptions, signal?: AbortSignal): Promise<WriteOutcome> {
    return this.#put(key, value, 0, options, signal);
  }

  update(
    key: string,
    value: Uint8Array,
    expected: Revision,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<WriteOutcome> {
    return this.#put(key, value, expected, options, signal);
  }

  delete(key: string, expected: Revision, signal?: AbortSignal): Promise<WriteOutcome> {
    const bytes = this.#keys.toEtcd(key);
    return this.#write(bytes, expected, { request_delete_range: { key: bytes } }, signal);
  }

  async *watch(prefix: string, after: Revision, signal: AbortSignal): AsyncGenerator<WatchBatch, void> {
    let position = after;
    let pauseMs = FIRST_RECONNECT_PAUSE_MS;
    while (!signal.aborted) {
      if (this.client.isClosed) throw new StoreClosedError();
      const { stream, endpoint } = await this.client.openWatch();
      const responses = new WatchResponses(this.#keys, position, () => this.reportsProgress);
      const watch = { stream, responses };
      const abort = (): void => stream.cancel();
      this.#watches.add(watch);
      signal.addEventListener('abort', abort);
      try {
        if (signal.aborted) return;
        const interval = this.#keys.interval(prefix);
        stream.write({
          create_request: {
            ...interval,
            start_revision: position + 1,
            prev_kv: true,
            progress_notify: true,
            fragment: true,
          },
        });
        for await (const response of stream) {
          const batch = responses.next(response);
          if (batch === undefined) continue;
          position = batch.revision;
          pauseMs = FIRST_RECONNECT_PAUSE_MS;
          yield batch;
        }
      } catch (error) {
        if (error instanceof CompactedError) throw error;
        const failure = this.client.streamFailed(error, endpoint);
        if (signal.aborted) return;
        if (!(failure instanceof EtcdError) || failure.problem === 'denied') throw failure;
        this.options.logger?.warn({ err: failure }, 'a watch lost its server and resumes');
      } finally {
        signal.removeEventListener('abort', abort);
        this.#watches.delete(watch);
        stream.cancel();
      }
      await pause(pauseMs, signal);
      pauseMs = Math.min(2 * pauseMs, MAX_RECONNECT_PAUSE_MS);
    }
  }

  async currentRevision(signal?: AbortSignal): Promise<Revision> {
    const { header } = await this.#range({ key: NO_KEY, count_only: true }, signal);
    return toRevision(header.revision);
  }

  async requestProgress(): Promise<void> {
    if (this.client.isClosed) throw new StoreClosedError();
    await this.client.learnMissingVersions();
    if (!this.reportsProgress) return;
    for (const { stream, responses } of this.#watches) if (responses.isCreated) stream.write({ progress_request: {} });
  }

  async compact(revision: Revision, signal?: AbortSignal): Promise<void> {
    await compact(this.client, revision, signal);
  }

  async health(signal?: AbortSignal): Promise<void> {
    const key = this.#keys.toEtcd('health');
    await this.client.call('range', { key, count_only: true }, { isRepeatable: true, signal, maxAttempts: 1 });
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

  #range(request: IRangeRequest, signal: AbortSignal | undefined): Promise<IRangeResponse> {
    return this.client.call('range', request, { isRepeatable: true, signal });
  }

  async #list(range: ListRange, signal: AbortSignal | undefined): Promise<ListOutcome> {
    const { key, range_end } = this.#keys.interval(range.prefix, range.start);
    const limit = range.limit ?? Infinity;
    const items: StoredValue[] = [];
    let { revision } = range;
    let from = key;
    let pageKeys = FIRST_PAGE_KEYS;
    for (;;) {
      const request = { key: from, range_end, limit: Math.min(pageKeys, limit - items.length) };
      const { header, kvs, count } = await this.#range(
        revision === undefined ? request : { ...request, revision },
        signal,
      );
      revision ??= toRevision(header.revision);
      let bytes = 0;
      for (const pair of kvs) {
        items.push(this.#keys.storedValue(pair));
        bytes += pair.value.length;
      }
      const remaining = Number(count) - kvs.length;
      if (remaining === 0 || items.length >= limit) return { ok: true, revision, items, remaining };
      from = Buffer.concat([kvs.at(-1)!.key, NO_KEY]);
      const fitting = Math.floor((PAGE_BYTES / Math.max(bytes, 1)) * kvs.length);
      pageKeys = Math.min(Math.max(fitting, MIN_PAGE_KEYS), MAX_PAGE_KEYS);
    }
  }

  async #put(
    key: string,
    value: Uint8Array,
    expected: number,
    options: WriteOptions | undefined,
    signal: AbortSignal | undefined,
  ): Promise<WriteOutcome> {
    const bytes = this.#keys.toEtcd(key);
    const put = { key: bytes, value: value as Buffer };
    if (options?.ttlSeconds === undefined) return this.#write(bytes, expected, { request_put: put }, signal);
    const lease = await this.#leases.leaseFor(options.ttlSeconds, signal);
    try {
      return await this.#write(bytes, expected, { request_put: { ...put, lease } }, signal);
    } catch (error) {
      if (!(error instanceof EtcdError && error.problem === 'lease-not-found')) throw error;
      this.#leases.forget(lease);
      const fresh = await this.#leases.leaseFor(options.ttlSeconds, signal);
      return this.#write(bytes, expected, { request_put: { ...put, lease: fresh } }, signal);
    }
  }

  /** One transaction: the write if the key is at the expected revision (0: absent), else a read of what is there. */
  async #write(
    key: Buffer,
    expected: number,
    write: IRequestOp,
    signal: AbortSignal | undefined,
  ): Promise<WriteOutcome> {
    const compare: ICompare = { result: 'Equal', target: 'Mod', key, mod_revision: expected };
    const request = { compare: [compare], success: [write], failure: [{ request_range: { key } }] };
    const { succeeded, header, responses } = await this.client.call('txn', request, { isRepeatable: false, signal });
    if (succeeded) return { ok: true, revision: toRevision(header.revision) };
    const pair = responses[0]?.response_range.kvs[0];
    return { ok: false, current: pair && this.#keys.storedValue(pair) };
  }
}
