import { Compactor } from './compactor';
import { LmdbFile } from './database';
import { EventFeed } from './event-feed';
import { deleteExpired } from './expiry';
import { listAt, listNewest, readCurrent, readVersion } from './reader';
import { encodeKey, type StateRecord } from './records';
import { GroupCommitWriter } from './writer';
import {
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

export interface EmbeddedStoreOptions {
  /** The file; LMDB keeps a small lock file beside it. Created, with its folder, when absent. */
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** How much history is kept, in milliseconds. Default: five minutes, as kube-apiserver keeps in etcd. */
  readonly historyMs?: number;
  /** How often older history is compacted, in milliseconds. Default: one minute. */
  readonly compactionIntervalMs?: number;
  /** How often keys are looked for whose time to live has passed, in milliseconds. Default: one second. */
  readonly expiryIntervalMs?: number;
  /** Is told when compaction or expiry failed (both are tried again), and when the file was open to others. */
  readonly logger?: { warn(details: object, message: string): void };
}

/**
 * Opens (or creates) a store in one file, which this process then owns. Rejects with a StoreFileError when the file is
 * damaged, and with a StoreOwnedError when another process has it.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const warn = (message: string): void => options.logger?.warn({}, message);
  return new EmbeddedStore(await LmdbFile.open(options.path, warn), options);
}

class EmbeddedStore implements Store {
  readonly reportsProgress = true;
  readonly #feed: EventFeed;
  readonly #writer: GroupCommitWriter;
  readonly #compactor: Compactor;
  readonly #clock: () => number;
  readonly #chores: readonly Chore[];
  #closing: Promise<void> | undefined;

  constructor(
    private readonly file: LmdbFile,
    options: EmbeddedStoreOptions,
  ) {
    const { clock = Date.now, historyMs = 300_000, compactionIntervalMs = 60_000, expiryIntervalMs = 1000 } = options;
    this.#clock = clock;
    this.#feed = new EventFeed(file.tables, file.state());
    this.#writer = new GroupCommitWriter(file, {
      clock,
      publish: (events, state) => this.#feed.publish(events, state),
    });
    this.#compactor = new Compactor(file, this.#feed, this.#writer);
    const warn = (message: string) => (error: unknown) => options.logger?.warn({ err: error }, message);
    this.#chores = [
      new Chore(expiryIntervalMs, () => deleteExpired(file.tables, this.#writer, this.#clock()), warn('expiry failed')),
      new Chore(
        compactionIntervalMs,
        () => this.#compactor.compactBefore(this.#clock() - historyMs),
        warn('compaction failed'),
      ),
    ];
  }

  async get(key: string, signal?: AbortSignal): Promise<StoredValue | undefined> {
    this.#check(signal);
    this.#visibleState();
    const record = readCurrent(this.file.tables, encodeKey(key));
    return record && readVersion(this.file.tables, record.revision);
  }

  async list(range: ListRange, signal?: AbortSignal): Promise<ListOutcome> {
    this.#check(signal);
    const { revision: current, compacted } = this.#visibleState();
    const revision = range.revision ?? current;
    if (revision > current) return { ok: false, reason: 'future', current };
    if (revision < compacted) return { ok: false, reason: 'compacted', current };
    const { tables } = this.file;
    const page = revision === current ? listNewest(tables, range) : listAt(tables, range, revision, current);
    return { ok: true, revision, ...page };
  }

  async create(key: string, value: Uint8Array, options?: WriteOptions, signal?: AbortSignal): Promise<WriteOutcome> {
    this.#check(signal);
    return this.#writer.write({ key, value, expected: undefined, ttlSeconds: options?.ttlSeconds });
  }

  async update(
    key: string,
    value: Uint8Array,
    expected: Revision,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<WriteOutcome> {
    this.#check(signal);
    return this.#writer.write({ key, value, expected, ttlSeconds: options?.ttlSeconds });
  }

  async delete(key: string, expected: Revision, signal?: AbortSignal): Promise<WriteOutcome> {
    this.#check(signal);
    return this.#writer.write({ key, value: undefined, expected });
  }

  watch(prefix: string, after: Revision, signal: AbortSignal): AsyncIterable<WatchBatch> {
    return this.#feed.watch(prefix, after, signal);
  }

  async currentRevision(signal?: AbortSignal): Promise<Revision> {
    this.#check(signal);
    return this.#visibleState().revision;
  }

  async requestProgress(): Promise<void> {
    this.#check();
    this.#visibleState();
    this.#feed.requestProgress();
  }

  async compact(revision: Revision, signal?: AbortSignal): Promise<void> {
    this.#check(signal);
    await this.#compactor.compact(revision);
  }

  async health(signal?: AbortSignal): Promise<void> {
    this.#check(signal);
    this.file.state();
    // The disk may have been full: only another attempt can tell whether it still is.
    if (this.#writer.failure !== undefined) await this.#writer.change([], {});
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#feed.close();
    await Promise.all(this.#chores.map((chore) => chore.stop()));
    await this.#compactor.close();
    await this.#writer.drained();
    await this.file.close();
  }

  #check(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (this.#closing !== undefined) throw new StoreClosedError();
  }

  /**
   * The state of the snapshot that reads see now. What one caller has seen, watches and other callers must know: a batch
   * that is visible, though its commit has not been reported yet, is published first.
   */
  #visibleState(): StateRecord {
    const state = this.file.state();
    if (state.revision > this.#feed.published.revision) this.#writer.noteVisible(state.revision);
    return state;
  }
}

/** Work that is repeated; one run at a time. */
class Chore {
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(intervalMs: number, work: () => Promise<void>, onError: (error: unknown) => void) {
    this.#timer = setInterval(() => {
      this.#running ??= work()
        .catch(onError)
        .finally(() => {
          this.#running = undefined;
        });
    }, intervalMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
