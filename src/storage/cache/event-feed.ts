import type { CompactedError, Revision } from '../store';
import type { CacheBatch } from './cache';
import { EventLog, type JoinedBatches, type LoggedBatch } from './event-log';

/** A watch that has given out everything and waits for more. */
export interface WaitingReader {
  /** There is more in the log than the reader has taken. */
  deliver(): void;
  /** There will be no more batches: because of the gap, or because the resource is closed. */
  finish(gap: CompactedError | undefined): void;
}

/**
 * Writing to a watcher costs some 30 microseconds, however little is written. Where there are many, the next delivery waits
 * until several batches can go out as one: so long per reader, but never longer than the most. Few wait for nothing.
 */
const PAUSE_PER_READER_MS = 0.1;
const LONGEST_PAUSE_MS = 25;
const FEW = 10;
/** Between so many readers whatever else there is to do gets its turn. */
const READERS_PER_TURN = 250;

/**
 * One resource's events and who waits for them. A feed is never continued over a gap: when history was lost, it ends and
 * another begins.
 */
export class EventFeed {
  readonly log: EventLog;
  readonly readers = new Set<WaitingReader>();
  private deliverable = 0;
  private joined: JoinedBatches | undefined;
  /** Stops the delivery under way, or the wait for the next one. */
  private cancel: (() => void) | undefined;
  private quietUntil = -Infinity;
  private end: { readonly gap: CompactedError | undefined } | undefined;

  constructor(floor: Revision) {
    this.log = new EventLog(floor);
  }

  /** Set when the feed has ended. */
  get ended(): { readonly gap: CompactedError | undefined } | undefined {
    return this.end;
  }

  /** Readers may take the log up to (without) this position; what comes after it is delivered later. */
  get delivered(): number {
    return this.deliverable;
  }

  /** What was delivered last, if it was several batches and began at this position. */
  joinedFrom(position: number): JoinedBatches | undefined {
    return this.joined?.from === position ? this.joined : undefined;
  }

  publish(batch: CacheBatch, atMs: number): LoggedBatch {
    const logged = this.log.append(batch, atMs);
    if (this.cancel === undefined) this.scheduleDelivery();
    return logged;
  }

  private scheduleDelivery(): void {
    const waitMs = this.quietUntil - performance.now();
    if (waitMs <= 0) return this.deliver();
    const timer = setTimeout(() => this.deliver(), waitMs);
    this.cancel = () => clearTimeout(timer);
  }

  private deliver(): void {
    this.cancel = undefined;
    const from = Math.max(this.deliverable, this.log.base);
    this.deliverable = this.log.end;
    this.joined = this.deliverable - from > 1 ? this.log.joined(from) : undefined;
    // A reader leaves the set when it takes a batch, and comes back when it has taken all.
    const readers = [...this.readers];
    if (readers.length >= FEW) return this.deliverTo(readers, 0);
    for (const reader of readers) reader.deliver();
  }

  private deliverTo(readers: readonly WaitingReader[], from: number): void {
    const to = from + READERS_PER_TURN;
    for (const reader of readers.slice(from, to)) reader.deliver();
    const turn = setImmediate(() => {
      if (to < readers.length) return this.deliverTo(readers, to);
      this.cancel = undefined;
      this.quietUntil = performance.now() + Math.min(readers.length * PAUSE_PER_READER_MS, LONGEST_PAUSE_MS);
      if (this.deliverable < this.log.end) this.scheduleDelivery();
    });
    this.cancel = () => clearImmediate(turn);
  }

  finish(gap: CompactedError | undefined): void {
    this.end = { gap };
    this.cancel?.();
    for (const reader of this.readers) reader.finish(gap);
    this.readers.clear();
  }
}
