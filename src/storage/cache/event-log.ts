import type { Revision } from '../store';
import type { CacheBatch, CacheEvent } from './cache';

/** A batch in the log, in the form that all watchers share. */
export interface LoggedBatch {
  readonly batch: CacheBatch;
  /** The batch as an iterator gives it. */
  readonly result: { readonly done: false; readonly value: CacheBatch };
  /** Events of the resource before this batch, since the log began. */
  readonly eventsBefore: number;
  readonly bytes: number;
  readonly atMs: number;
}

/** Several batches of the log, from one position up to (without) another, in the form that all watchers share. */
export interface JoinedBatches {
  readonly from: number;
  readonly to: number;
  readonly result: LoggedBatch['result'];
}

/**
 * The recent events of one resource. Batches have positions that never change, from `base` (the oldest that is kept) to
 * `end` (the next to come), so that a watcher is no more than a position: it holds back nothing, and sees for itself
 * when it has fallen behind `base`.
 */
export class EventLog {
  /** The batch at position p is at index p - offset; indexes below base - offset are empty. */
  private batches: (LoggedBatch | undefined)[] = [];
  private offset = 0;
  private oldest = 0;
  /** Up to (without) this position nothing parsed is kept of what the events have done away with. */
  private encodedUpTo = 0;
  private events = 0;
  /** The log no longer reaches back as far as it did. */
  onDropped: (() => void) | undefined;

  /** Complete after `floor`: every later event is here. */
  constructor(private lowest: Revision) {}

  get floor(): Revision {
    return this.lowest;
  }

  get base(): number {
    return this.oldest;
  }

  get end(): number {
    return this.offset + this.batches.length;
  }

  /** Events ever appended. */
  get total(): number {
    return this.events;
  }

  append(batch: CacheBatch, atMs: number): LoggedBatch {
    let bytes = 0;
    // What an event costs is the state that the tree no longer holds.
    for (const event of batch.events) bytes += EVENT_BYTES + bodyBytes(event.previous) + deletedBytes(event);
    const logged = { batch, result: { done: false, value: batch }, eventsBefore: this.events, bytes, atMs } as const;
    this.batches.push(logged);
    this.events += batch.events.length;
    while (this.encodedUpTo < this.end - PARSED_BATCHES) this.forgetParsed(this.encodedUpTo++);
    return logged;
  }

  private forgetParsed(position: number): void {
    for (const event of this.at(position)?.batch.events ?? []) {
      event.previous?.forget();
      if (event.type === 'delete') event.entry.forget();
    }
  }

  at(position: number): LoggedBatch | undefined {
    return this.batches[position - this.offset];
  }

  /** All from one position to the end. */
  batchesFrom(position: number): readonly CacheBatch[] {
    return this.batches.slice(position - this.offset).map((logged) => (logged as LoggedBatch).batch);
  }

  /** All from one position to the end as one batch. */
  joined(from: number): JoinedBatches {
    const batches = this.batchesFrom(from);
    const events = batches.flatMap((batch) => batch.events);
    const value = { events, revision: (batches.at(-1) as CacheBatch).revision };
    return { from, to: this.end, result: { done: false, value } };
  }

  /** The position of the first batch with an event after `revision`. */
  seek(revision: Revision): number {
    let low = this.oldest;
    let high = this.end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lastRevision(this.at(middle) as LoggedBatch) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Forgets the oldest batch. */
  dropOldest(): void {
    const dropped = this.at(this.oldest);
    if (dropped === undefined) return;
    this.lowest = lastRevision(dropped);
    this.forgetParsed(this.oldest);
    this.batches[this.oldest - this.offset] = undefined;
    this.oldest++;
    const empty = this.oldest - this.offset;
    if (empty > 64 && empty * 2 > this.batches.length) {
      this.batches = this.batches.slice(empty);
      this.offset = this.oldest;
    }
    this.onDropped?.();
  }

  /** Forgets all batches, which are handed out once more: nobody reads the log any more. */
  clear(): readonly LoggedBatch[] {
    const all = this.batches.slice(this.oldest - this.offset) as LoggedBatch[];
    for (let position = this.oldest; position < this.end; position++) this.forgetParsed(position);
    this.oldest = this.offset = this.end;
    this.batches = [];
    return all;
  }
}

const EVENT_BYTES = 400;
/**
 * Of the newest batches, which watches and controllers look at about now, former states stay parsed as long as there is room. Of
 * others they are bytes.
 */
const PARSED_BATCHES = 16;

function bodyBytes(entry: CacheEvent['previous']): number {
  return entry === undefined ? 0 : entry.size;
}

function deletedBytes(event: CacheEvent): number {
  return event.type === 'delete' ? event.entry.size : 0;
}

function lastRevision({ batch }: LoggedBatch): Revision {
  return (batch.events[batch.events.length - 1] as CacheEvent).revision;
}
