import { cacheLimit } from '../../memory/memory-limit';
import type { Tables } from './database';
import { readLog, readVersion } from './reader';
import type { StateRecord } from './records';
import { CompactedError, StoreClosedError, type Revision, type StoreEvent, type WatchBatch } from '../store';

/** Recent events stay in memory for the watches that keep up; the others read the log. */
const MAX_RECENT_EVENTS = 4096;
const MAX_RECENT_BYTES = cacheLimit(8 * 1024 * 1024);
/** What a watch reads from the log in one turn of the loop. */
const LOG_CHUNK_EVENTS = 256;
const LOG_CHUNK_BYTES = 4 * 1024 * 1024;

/** Gives events to watches: first from the log, then as they are published. */
export class EventFeed {
  #published: StateRecord;
  /** The newest events, without a gap, from behind this revision on. */
  #recent: StoreEvent[] = [];
  #recentAfter: Revision;
  #recentBytes = 0;
  #progressRequests = 0;
  #closed = false;
  readonly #sleeping = new Set<() => void>();

  constructor(
    private readonly tables: Tables,
    state: StateRecord,
  ) {
    this.#published = state;
    this.#recentAfter = state.revision;
  }

  /** The state up to which events have been given out. */
  get published(): StateRecord {
    return this.#published;
  }

  publish(events: readonly StoreEvent[], state: StateRecord): void {
    for (const event of events) {
      this.#recent.push(event);
      this.#recentBytes += sizeOf(event);
    }
    this.#published = state;
    if (this.#recent.length > MAX_RECENT_EVENTS || this.#recentBytes > MAX_RECENT_BYTES) this.#forgetOlderHalf();
    this.#wakeAll();
  }

  /** Open watches that have caught up give a batch without events. */
  requestProgress(): void {
    this.#progressRequests++;
    this.#wakeAll();
  }

  /** Open watches end with a {@link StoreClosedError}. */
  close(): void {
    this.#closed = true;
    this.#wakeAll();
  }

  async *watch(prefix: string, after: Revision, signal: AbortSignal): AsyncGenerator<WatchBatch, void> {
    let position = after;
    let progressReported = this.#progressRequests;
    while (!signal.aborted) {
      if (this.#closed) throw new StoreClosedError();
      if (position < this.#published.compacted) throw new CompactedError(this.#published.compacted);
      if (position < this.#published.revision) {
        const { revision, events } = this.#next(position);
        position = revision;
        const matching = events.filter((event) => event.key.startsWith(prefix));
        if (matching.length > 0) yield { revision, events: matching };
        else if (position < this.#published.revision) await new Promise((resolve) => setImmediate(resolve));
      } else if (progressReported !== this.#progressRequests && position === this.#published.revision) {
        progressReported = this.#progressRequests;
        yield { revision: position, events: [] };
      } else {
        await this.#sleep(signal);
      }
    }
  }

  /** The events that follow a revision: all, or a part that ends with the revision of the batch. */
  #next(after: Revision): WatchBatch {
    const { revision } = this.#published;
    if (after >= this.#recentAfter) return { revision, events: this.#recent.slice(this.#indexAfter(after)) };
    const events: StoreEvent[] = [];
    let bytes = 0;
    for (const { type, key, value, revision: written, previous } of readLog(
      this.tables,
      after,
      revision,
      LOG_CHUNK_EVENTS,
    )) {
      const before = previous === undefined ? undefined : readVersion(this.tables, previous);
      const event: StoreEvent =
        type === 'put'
          ? { type, key, value, revision: written, previous: before }
          : { type, key, revision: written, previous: before! };
      events.push(event);
      bytes += sizeOf(event);
      if (bytes > LOG_CHUNK_BYTES) break;
    }
    const isAll = bytes <= LOG_CHUNK_BYTES && events.length < LOG_CHUNK_EVENTS;
    return { revision: isAll ? revision : events.at(-1)!.revision, events };
  }

  /** The index of the first recent event behind a revision. */
  #indexAfter(revision: Revision): number {
    let low = 0;
    let high = this.#recent.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#recent[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #forgetOlderHalf(): void {
    const forgotten = this.#recent.splice(0, Math.ceil(this.#recent.length / 2));
    this.#recentAfter = forgotten.at(-1)!.revision;
    this.#recentBytes = this.#recent.reduce((sum, event) => sum + sizeOf(event), 0);
  }

  #wakeAll(): void {
    for (const wake of [...this.#sleeping]) wake();
  }

  #sleep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleeping.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#sleeping.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}

function sizeOf(event: StoreEvent): number {
  return (event.type === 'put' ? event.value.length : 0) + (event.previous?.value.length ?? 0);
}
