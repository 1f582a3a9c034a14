import { Turn } from '../../async/turn';
import { CommitFailures } from './commit-failures';
import { Compactor } from './compactor';
import { LmdbFile } from './database';
import { EventFeed } from './event-feed';
import { deleteExpired } from './expiry';
import { countAfter, readAt, readCurrent, readNewest, readVersion } from './reader';
import { encodeKey, type StateRecord } from './records';
import { shrink, shrinkIfWorthIt, type Shrunk } from './shrink';
import { SpaceGuard, StoreFullError, type Shortage } from './space-guard';
import { GroupCommitWriter } from './writer';
import {
  StoreClosedError,
  StoreFailure,
  type ListOutcome,
  type ListRange,
  type Revision,
  type Store,
  type StoredValue,
  type StoreSpace,
  type WatchBatch,
  type WriteOptions,
  type WriteOutcome,
  type Cancellation,
} from '../store';

export interface EmbeddedStoreOptions {
  /** The file; LMDB keeps a small lock file beside it. Created, with its folder, when absent. */
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** How much history is kept, in milliseconds; Infinity: all, until space runs out. Default: five minutes, as kube-apiserver keeps in etcd. */
  readonly historyMs?: number;
  /** How often older history is compacted, in milliseconds. Default: each minute, or as often as it grows old where that is shorter. */
  readonly compactionIntervalMs?: number;
  /** Bytes that may be in use before writes are refused; 0: no bound. Default: 8 GiB, the most that etcd advises. */
  readonly quotaBytes?: number;
  /** How often keys are looked for whose time to live has passed, in milliseconds. Default: one second. */
  readonly expiryIntervalMs?: number;
  /** Is told when compaction or expiry failed (both are tried again), and when the file was open to others. */
  readonly logger?: {
    warn(details: object, message: string): void;
    info?(details: object, message: string): void;
  };
  /** Called once, when a commit failed in such a way that LMDB does not even read any more: only opening the file again helps. */
  readonly onLost?: (error: Error) => void;
}

/**
 * Opens (or creates) a store in one file, which this process then owns. Rejects with a StoreFileError when the file is
 * damaged, with a StoreOwnedError when another process has it, and with a StoreFullError when its disk is full.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const warn = (message: string): void => options.logger?.warn({}, message);
  const { clock = Date.now, historyMs = DEFAULT_HISTORY_MS, logger } = options;
  const opened = await LmdbFile.open(options.path, warn);
  const shrunk = await shrinkIfWorthIt(opened, clock() - historyMs, warn);
  if (shrunk !== undefined) {
    const { bytesBefore, bytesAfter } = shrunk;
    logger?.info?.({ bytesBefore, bytesAfter }, `${options.path} was made smaller`);
  }
  const file = shrunk?.file ?? opened;
  const store = new EmbeddedStore(file, options);
  const shortage = store.lookForSpace();
  if (shortage?.cause === 'disk') {
    await store.close();
    throw new StoreFullError({ ...shortage, message: `${shortage.message}: free some space and start again` });
  }
  return store;
}

/** What a list reads between two looks at the clock: a millisecond or two. */
const PIECE_VALUES = 256;

/** As kube-apiserver keeps in etcd. */
const DEFAULT_HISTORY_MS = 300_000;

/** The most that etcd's documentation advises for its own. */
export const DEFAULT_QUOTA_BYTES = 8 * 1024 * 1024 * 1024;

/** How often a store without space looks for history that it can do without. */
const SHORTAGE_INTERVAL_MS = 1_000;
/** What history it keeps then. */
const HISTORY_WITHOUT_SPACE_MS = 10_000;

/**
 * Makes a store's file as small as what it holds, with `historyMs` of history. It must not be open: rejects with a
 * StoreOwnedError.
 */
export async function compactStoreFile(
  path: string,
  historyMs: number,
  warn: (message: string) => void,
): Promise<Omit<Shrunk, 'file'>> {
  const file = await LmdbFile.open(path, warn);
  try {
    const { file: shrunk, ...outcome } = await shrink(file, Date.now() - historyMs, warn);
    await shrunk.close();
    return outcome;
  } catch (error) {
    await file.close();
    throw error;
  }
}

class EmbeddedStore implements Store {
  readonly reportsProgress = true;
  readonly #space: SpaceGuard;
  readonly #quotaBytes: number;
  readonly #failures: CommitFailures;
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
    const {
      clock = Date.now,
      historyMs = DEFAULT_HISTORY_MS,
      compactionIntervalMs = Math.min(60_000, Math.max(1_000, historyMs)),
      expiryIntervalMs = 1000,
    } = options;
    const { quotaBytes = DEFAULT_QUOTA_BYTES, logger } = options;
    this.#clock = clock;
    this.#quotaBytes = quotaBytes === 0 ? Infinity : quotaBytes;
    this.#space = new SpaceGuard(file.path, {
      quotaBytes: this.#quotaBytes,
      measure: () => file.space(),
      now: () => performance.now(),
      onChange: (shortage) =>
        logger?.warn(
          {},
          shortage === undefined
            ? `${file.path}: there is space again: writes are taken`
            : `${shortage.message}; writes are refused until there is space, reads and deletions go on`,
        ),
    });
    this.#feed = new EventFeed(file.tables, file.state());
    this.#failures = new CommitFailures(file.path, {
      space: this.#space,
      read: () => file.state(),
      warn: (message) => logger?.warn({}, message),
      ...(options.onLost && { onLost: options.onLost }),
    });
    this.#writer = new GroupCommitWriter(file, {
      clock,
      publish: (events, state) => this.#feed.publish(events, state),
      space: {
        admit: (valueBytes) => this.#space.admit(valueBytes),
        settled: (bytes, hasSucceeded) => {
          this.#space.settled(bytes, hasSucceeded);
          if (hasSucceeded) this.#failures.succeeded();
        },
        explain: (error) => this.#failures.explain(error),
      },
    });
    this.#compactor = new Compactor(file, this.#feed, this.#writer);
    const warn = (message: string) => (error: unknown) => {
      if (!(error instanceof StoreFailure && error.isReported)) logger?.warn({ err: error }, message);
    };
    const chore = (intervalMs: number, work: () => Promise<void>, failed: string): Chore =>
      new Chore(intervalMs, async () => (this.#failures.lost === undefined ? work() : undefined), warn(failed));
    this.#chores = [
      chore(expiryIntervalMs, () => deleteExpired(file.tables, this.#writer, this.#clock()), 'expiry failed'),
      chore(compactionIntervalMs, () => this.#compactor.compactBefore(this.#clock() - historyMs), 'compaction failed'),
      chore(SHORTAGE_INTERVAL_MS, () => this.#makeRoom(historyMs), 'making room failed'),
    ];
  }

  async get(key: string, signal?: Cancellation): Promise<StoredValue | undefined> {
    this.#check(signal);
    this.#visibleState();
    const record = readCurrent(this.file.tables, encodeKey(key));
    return record && readVersion(this.file.tables, record.revision);
  }

  /** Long lists give way to other work after every {@link PIECE_VALUES}; all pieces are of one revision. */
  async list(range: ListRange, signal?: AbortSignal): Promise<ListOutcome> {
    for (;;) {
      this.#check(signal);
      const { revision: current, compacted } = this.#visibleState();
      const revision = range.revision ?? current;
      if (revision > current) return { ok: false, reason: 'future', current };
      if (revision < compacted) return { ok: false, reason: 'compacted', current };
      const outcome = await this.#listAt(range, revision, signal);
      // A read of the newest state gets it, though it was compacted meanwhile.
      if (outcome.ok || range.revision !== undefined) return outcome;
    }
  }

  async #listAt(range: ListRange, revision: Revision, signal: AbortSignal | undefined): Promise<ListOutcome> {
    const { tables } = this.file;
    const limit = range.limit ?? Infinity;
    const turn = new Turn();
    let { revision: current, compacted } = this.#visibleState();
    const items: StoredValue[] = [];
    let rest = range;
    for (;;) {
      const most = Math.min(PIECE_VALUES, limit - items.length);
      const piece = revision === current ? readNewest(tables, rest, most) : readAt(tables, rest, most, revision);
      items.push(...piece.items);
      const last = items.at(-1);
      if (!piece.isFull || last === undefined) return { ok: true, revision, items, remaining: 0 };
      if (items.length === limit) {
        return { ok: true, revision, items, remaining: countAfter(tables, range, last.key, revision, current) };
      }
      rest = { prefix: range.prefix, start: `${last.key}\0` };
      if (!turn.isOver) continue;
      await turn.next();
      this.#check(signal);
      ({ revision: current, compacted } = this.#visibleState());
      if (revision < compacted) return { ok: false, reason: 'compacted', current };
    }
  }

  async create(key: string, value: Uint8Array, options?: WriteOptions, signal?: Cancellation): Promise<WriteOutcome> {
    this.#check(signal);
    return this.#writer.write({ key, value, expected: undefined, ttlSeconds: options?.ttlSeconds });
  }

  async update(
    key: string,
    value: Uint8Array,
    expected: Revision,
    options?: WriteOptions,
    signal?: Cancellation,
  ): Promise<WriteOutcome> {
    this.#check(signal);
    return this.#writer.write({ key, value, expected, ttlSeconds: options?.ttlSeconds });
  }

  async delete(key: string, expected: Revision, signal?: Cancellation): Promise<WriteOutcome> {
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
    // Only another attempt can tell whether the disk works again. One that is full does: see space().
    if (this.#writer.failure !== undefined && this.#space.shortage === undefined) await this.#writer.change([], {});
  }

  lookForSpace(): Shortage | undefined {
    this.#space.look();
    return this.#space.shortage;
  }

  async space(signal?: AbortSignal): Promise<readonly StoreSpace[]> {
    this.#check(signal);
    if (this.#space.needsTrial) await this.#tryWriting();
    const { file: fileBytes, inUse: inUseBytes } = this.#space.look();
    const quotaBytes = Number.isFinite(this.#quotaBytes) ? this.#quotaBytes : undefined;
    return [{ endpoint: this.file.path, fileBytes, inUseBytes, quotaBytes, shortage: this.#space.shortage?.message }];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** A commit that needs some room, and takes it back. */
  async #tryWriting(): Promise<void> {
    const { write, undo } = this.file.trial();
    await this.#writer
      .change(write, {})
      .then(() => this.#writer.change(undo, {}))
      .catch(() => undefined);
  }

  /** While writes are refused, history is worth less than room for them: clients that ask for it list anew. */
  async #makeRoom(historyMs: number): Promise<void> {
    if (this.#space.shortage === undefined) return;
    await this.#compactor.compactBefore(this.#clock() - Math.min(historyMs, HISTORY_WITHOUT_SPACE_MS));
    this.#space.look();
  }

  async #close(): Promise<void> {
    this.#feed.close();
    await Promise.all(this.#chores.map((chore) => chore.stop()));
    await this.#compactor.close();
    await this.#writer.drained();
    await this.file.close();
  }

  #check(signal?: Cancellation): void {
    signal?.throwIfAborted();
    if (this.#closing !== undefined) throw new StoreClosedError();
    if (this.#failures.lost !== undefined) throw this.#failures.lost;
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
