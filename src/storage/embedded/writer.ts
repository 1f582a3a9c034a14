import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change, LmdbFile } from './database';
import {
  encodeCurrentRecord,
  encodeExpiryKey,
  encodeKey,
  encodeLogRecord,
  encodeNumber,
  encodeOlderKey,
  type StateRecord,
} from './records';
import { readCurrent, readVersion } from './reader';
import type { Revision, StoredValue, StoreEvent, WriteOutcome } from '../store';

export interface Write {
  readonly key: string;
  /** Undefined: delete. */
  readonly value: Uint8Array | undefined;
  /** What must stand there; undefined: nothing. */
  readonly expected: Revision | undefined;
  readonly ttlSeconds?: number | undefined;
}

/** What a key holds after the writes that were decided, whether or not they are on the disk yet. */
interface Standing {
  readonly stored: StoredValue;
  readonly expires: number | undefined;
}

/** Writes that reach the disk together, or not at all. */
interface Batch {
  /** The state after it; known when it starts to be committed. */
  state?: StateRecord;
  admittedBytes: number;
  readonly changes: Change[];
  readonly events: StoreEvent[];
  readonly waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[];
}

interface Undecided {
  readonly batch: Batch;
  /** Undefined: deleted. */
  readonly standing: Standing | undefined;
}

export interface WriterOptions {
  readonly clock: () => number;
  /** Called when events have become durable, in order, before their writers are answered. */
  readonly publish: (events: readonly StoreEvent[], state: StateRecord) => void;
  /** Decides whether there is room. */
  readonly space: WriterSpace;
}

export interface WriterSpace {
  /** Takes the room for a value, and returns how much that is; throws when there is none. */
  admit(valueBytes: number): number;
  /** Told of a commit that is over, with the sum of what was admitted for it. */
  settled(admittedBytes: number, hasSucceeded: boolean): void;
  /** What the writers of a commit that failed are told. */
  explain(error: unknown): unknown;
}

/**
 * Decides writes in the order in which they come, and commits them in groups: while one batch is on its way to the disk,
 * the next one collects. A write is answered only when everything its outcome rests on is on the disk.
 */
export class GroupCommitWriter {
  /** The state after all writes that were decided. */
  #state: StateRecord;
  /** The state after the newest batch that is known to be on the disk. */
  #settledState: StateRecord;
  #collecting = emptyBatch();
  /** On its way to the disk, and not settled. */
  #committing: Batch | undefined;
  /** Keys whose newest write is not known to be on the disk. */
  readonly #undecided = new Map<string, Undecided>();
  /** Commits, one after the other, until there is nothing left to commit. */
  #running: Promise<void> | undefined;
  #failure: unknown;

  constructor(
    private readonly file: Pick<LmdbFile, 'tables' | 'state' | 'commit'>,
    private readonly options: WriterOptions,
  ) {
    this.#state = file.state();
    this.#settledState = this.#state;
  }

  /** Why the last commit failed; undefined when it did not. */
  get failure(): unknown {
    return this.#failure;
  }

  async write(write: Write): Promise<WriteOutcome> {
    const key = encodeKey(write.key);
    const known = this.#undecided.get(write.key);
    const standing = known === undefined ? this.#readStanding(key) : known.standing;
    if (standing?.stored.revision !== write.expected) {
      if (known !== undefined) await this.#durable(known.batch);
      return { ok: false, current: standing?.stored };
    }
    if (write.value !== undefined) this.#collecting.admittedBytes += this.options.space.admit(write.value.length);
    const revision = this.#apply(write, key, standing);
    await this.#durable(this.#collecting);
    return { ok: true, revision };
  }

  /** Changes that are no write: they have no revision and no event. */
  async change(changes: readonly Change[], state: Partial<Pick<StateRecord, 'compacted' | 'scrubbed'>>): Promise<void> {
    this.#state = { ...this.#state, ...state };
    this.#collecting.changes.push(...changes);
    await this.#durable(this.#collecting);
  }

  /** Tells the writer that a reader has seen this revision: its batch is on the disk, though not yet reported. */
  noteVisible(revision: Revision): void {
    const batch = this.#committing;
    if (batch?.state !== undefined && batch.events.length > 0 && batch.state.revision <= revision) {
      this.#settle(batch, batch.state);
    }
  }

  /** Resolves when nothing is under way. */
  async drained(): Promise<void> {
    await this.#running;
  }

  #readStanding(key: Buffer): Standing | undefined {
    const record = readCurrent(this.file.tables, key);
    return record && { stored: readVersion(this.file.tables, record.revision), expires: record.expires };
  }

  #apply(write: Write, key: Buffer, standing: Standing | undefined): Revision {
    const { log, current, older, expiry } = this.file.tables;
    const { changes, events } = this.#collecting;
    const revision = (this.#state.revision + 1) as Revision;
    const now = this.options.clock();
    const time = Math.max(now, this.#state.time);
    const expires = write.ttlSeconds === undefined ? undefined : now + write.ttlSeconds * 1000;
    const previous = standing?.stored;

    const type = write.value === undefined ? 'delete' : 'put';
    const content = write.value ?? new Uint8Array();
    const record = encodeLogRecord({ type, revision, time, previous: previous?.revision }, key, content);
    const value = record.subarray(record.length - content.length);

    changes.push({ table: log, key: encodeNumber(revision), value: record });
    if (previous !== undefined) {
      changes.push({ table: older, key: encodeOlderKey(key, previous.revision), value: encodeNumber(revision) });
    }
    if (standing?.expires !== undefined) {
      changes.push({ table: expiry, key: encodeExpiryKey(standing.expires, key), value: undefined });
    }
    if (type === 'delete') {
      changes.push({ table: current, key, value: undefined });
      events.push({ type, key: write.key, revision, previous: previous! });
      this.#undecided.set(write.key, { batch: this.#collecting, standing: undefined });
    } else {
      const stored = { key: write.key, value, revision };
      changes.push({ table: current, key, value: encodeCurrentRecord({ revision, expires }) });
      if (expires !== undefined) {
        changes.push({ table: expiry, key: encodeExpiryKey(expires, key), value: encodeNumber(revision) });
      }
      events.push({ type, ...stored, previous });
      this.#undecided.set(write.key, { batch: this.#collecting, standing: { stored, expires } });
    }
    this.#state = { ...this.#state, revision, time };
    return revision;
  }

  #durable(batch: Batch): Promise<void> {
    this.#running ??= this.#commitAll();
    return new Promise((resolve, reject) => {
      batch.waiting.push({ resolve, reject });
    });
  }

  async #commitAll(): Promise<void> {
    // After the poll phase: requests that arrived together are committed together.
    await nextTurn();
    while (this.#collecting.waiting.length > 0) {
      const batch = this.#collecting;
      const state = this.#state;
      batch.state = state;
      this.#committing = batch;
      this.#collecting = emptyBatch();
      try {
        await this.file.commit(batch.changes, state);
        this.#settle(batch, state);
      } catch (error) {
        this.#fail(batch, error);
      }
    }
    this.#running = undefined;
  }

  #settle(batch: Batch, state: StateRecord): void {
    if (this.#committing !== batch) return;
    this.#committing = undefined;
    this.#settledState = state;
    this.#failure = undefined;
    this.options.space.settled(batch.admittedBytes, true);
    for (const { key } of batch.events) {
      if (this.#undecided.get(key)?.batch === batch) this.#undecided.delete(key);
    }
    this.options.publish(batch.events, state);
    for (const { resolve } of batch.waiting) resolve();
  }

  /** What was decided on top of a batch that failed cannot stand either. Its revisions are not given out again. */
  #fail(batch: Batch, cause: unknown): void {
    const dependent = this.#collecting;
    this.options.space.settled(batch.admittedBytes + dependent.admittedBytes, false);
    const error = this.options.space.explain(cause);
    this.#committing = undefined;
    this.#collecting = emptyBatch();
    this.#failure = error;
    this.#undecided.clear();
    const { compacted, scrubbed } = this.#settledState;
    this.#state = { ...this.#state, compacted, scrubbed };
    for (const { reject } of [...batch.waiting, ...dependent.waiting]) reject(error);
  }
}

function emptyBatch(): Batch {
  return { admittedBytes: 0, changes: [], events: [], waiting: [] };
}
