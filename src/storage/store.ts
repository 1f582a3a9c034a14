/**
 * The Store seam: revisioned keys and bytes, nothing of kinds or HTTP. Two implementations (etcd and embedded) pass one
 * contract suite, `test/contract/store.ts`.
 *
 * Every successful write gets the next revision of the whole store. An expected outcome is a value; what throws is
 * unexpected (the store is unreachable, the disk is full) or an abort (the signal's reason is thrown).
 */

import type { RequestTrace } from '../observability/request-trace';

/** A revision of the whole store, above 0. Not to be mixed with a client's opaque resourceVersion string. */
export type Revision = number & { readonly __revision: true };

export interface StoredValue {
  readonly key: string;
  readonly value: Buffer;
  /** The revision of the write that put this value there (etcd: mod revision). */
  readonly revision: Revision;
  /** Why the value cannot be read: it is encrypted, and these are its bytes as they are stored. */
  readonly problem?: string;
}

export interface ListRange {
  /** Keys that begin with this. */
  readonly prefix: string;
  /** Only keys not below this one: where an earlier page ended, plus a zero byte. */
  readonly start?: string;
  readonly limit?: number;
  /** Read the state as of this revision; absent: the newest, linearizable. */
  readonly revision?: Revision;
}

export type ListOutcome =
  | {
      readonly ok: true;
      /** The revision that was read. */
      readonly revision: Revision;
      /** In key order (bytewise). */
      readonly items: readonly StoredValue[];
      /** Keys in the range beyond `limit`, 0 when the page is the last. */
      readonly remaining: number;
    }
  | { readonly ok: false; readonly reason: 'compacted' | 'future'; readonly current: Revision };

export type WriteOutcome =
  | { readonly ok: true; readonly revision: Revision }
  /** The compare failed: what stands there now; undefined when nothing does. */
  | { readonly ok: false; readonly current: StoredValue | undefined };

export interface WriteOptions {
  /** The key vanishes (with a delete event) after this time unless it is written again. */
  readonly ttlSeconds?: number;
}

export interface WatchOptions {
  /**
   * False: the watcher knows what stood before an event, so that `previous` may be missing. It costs etcd a read for
   * each event, and the object's bytes a second time.
   */
  readonly needsPrevious?: boolean;
}

export type StoreEvent =
  | {
      readonly type: 'put';
      readonly key: string;
      readonly value: Buffer;
      readonly revision: Revision;
      /** What stood there before; undefined when the key was created. */
      readonly previous: StoredValue | undefined;
      /** As of a {@link StoredValue}. */
      readonly problem?: string;
    }
  | {
      readonly type: 'delete';
      readonly key: string;
      readonly revision: Revision;
      /** What was deleted. */
      readonly previous: StoredValue | undefined;
    };

/** All events of the prefix up to `revision`, in order; a revision is never split. `events` may be empty: progress. */
export interface WatchBatch {
  readonly revision: Revision;
  readonly events: readonly StoreEvent[];
}

/** Thrown by a watch that starts, or has fallen, before the history that is kept. */
export class CompactedError extends Error {
  constructor(readonly compactRevision: Revision) {
    super(`history before revision ${compactRevision} has been compacted`);
    this.name = 'CompactedError';
  }
}

/** The store could not do what it was asked: it cannot be reached, it is full, it took too long. */
export class StoreFailure extends Error {
  /** It takes no writes for want of space. */
  readonly isOutOfSpace: boolean;
  /** The store itself says so in the log, once: it need not be said of every request. So it is when it has no space. */
  readonly isReported: boolean;

  constructor(
    message: string,
    /** The same for clients: the cause, without addresses and the like. */
    readonly publicMessage: string,
    options?: ErrorOptions & { readonly isOutOfSpace?: boolean; readonly isReported?: boolean },
  ) {
    super(message, options);
    this.name = 'StoreFailure';
    this.isOutOfSpace = options?.isOutOfSpace ?? false;
    this.isReported = options?.isReported ?? this.isOutOfSpace;
  }
}

/** How full one file, or one server, of a store is. */
export interface StoreSpace {
  /** The server's address, or the file's path. */
  readonly endpoint: string;
  readonly fileBytes: number;
  /** Without what will be used again; undefined when that is not known. */
  readonly inUseBytes: number | undefined;
  /** Undefined: there is none, or it is not known. */
  readonly quotaBytes: number | undefined;
  /** Why writes are refused, for the operator; undefined: they are taken. */
  readonly shortage: string | undefined;
}

/** Whether a call is still waited for: an AbortSignal, or what costs less to make and says the same when it is asked. */
export interface Cancellation {
  readonly aborted: boolean;
  /** What is thrown then. */
  readonly reason: unknown;
  /** Of a request that is traced. */
  readonly trace?: RequestTrace | undefined;
  throwIfAborted(): void;
}

/** Thrown by whatever is still under way, or is asked, when the store has been closed. */
export class StoreClosedError extends Error {
  constructor() {
    super('the store is closed');
    this.name = 'StoreClosedError';
  }
}

export interface Store {
  /** The newest value, linearizable. */
  get(key: string, signal?: Cancellation): Promise<StoredValue | undefined>;
  list(range: ListRange, signal?: AbortSignal): Promise<ListOutcome>;
  /** Succeeds only when the key does not exist. */
  create(key: string, value: Uint8Array, options?: WriteOptions, signal?: Cancellation): Promise<WriteOutcome>;
  /** Succeeds only when the key's revision is `expected`. */
  update(
    key: string,
    value: Uint8Array,
    expected: Revision,
    options?: WriteOptions,
    signal?: Cancellation,
  ): Promise<WriteOutcome>;
  /** Succeeds only when the key's revision is `expected`. */
  delete(key: string, expected: Revision, signal?: Cancellation): Promise<WriteOutcome>;
  /**
   * Every event of keys that begin with `prefix` after revision `after`, ordered, complete, without duplicates. Ends
   * (returns) when the signal aborts; throws {@link CompactedError} when the history is gone and
   * {@link StoreClosedError} when the store is closed.
   */
  watch(prefix: string, after: Revision, signal: AbortSignal, options?: WatchOptions): AsyncIterable<WatchBatch>;
  /** The newest revision, linearizable: every write acknowledged before this call has a revision not above it. */
  currentRevision(signal?: AbortSignal): Promise<Revision>;
  /**
   * Asks open watches to report how far they are (a batch without events) even when their prefix is quiet. Whether that
   * can be relied upon: see {@link reportsProgress}.
   */
  requestProgress(): Promise<void>;
  /** False for etcd servers whose progress reports may run ahead of their events. */
  readonly reportsProgress: boolean;
  /** Forgets history before `revision`; what is alive at it stays. */
  compact(revision: Revision, signal?: AbortSignal): Promise<void>;
  /** Resolves when the store can serve; rejects with the cause when it cannot. */
  health(signal?: AbortSignal): Promise<void>;
  /** How full it is: one entry for each file or server that answers. A store without space is healthy: reads go on. */
  space(signal?: AbortSignal): Promise<readonly StoreSpace[]>;
  /** The value would be written otherwise today, with another key: the same one is to be written again. Absent: never. */
  needsRewrite?(key: string, revision: Revision): boolean;
  close(): Promise<void>;
}
