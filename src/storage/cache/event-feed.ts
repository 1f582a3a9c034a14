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
 * Writing to a watcher costs about 10 microseconds, however much is written. With many of them, the next batch waits until
 * several can go out as one: so long per reader, but never longer than the most. Few readers wait for nothing.
 */
const PAUSE_PER_READER_MS = 0.1;
const LONGEST_PAUSE_MS = 25;

/**
 * One resource's events and who waits for them. A feed is never continued over a gap: when history was lost, it ends and
 * another begins.
 */
export class EventFeed {
  readonly log: EventLog;
  readonly readers = new Set<WaitingReader>();
  private deliveredAt = -Infinity;
  /** Where in the log the next delivery begins. */
  private delivered = 0;
  private joined: JoinedBatches | undefined;
  private nextDelivery: NodeJS.Timeout | undefined;
  private end: { readonly gap: CompactedError | undefined } | undefined;

  constructor(floor: Revision) {
    this.log = new EventLog(floor);
  }

  /** Set when the feed has ended. */
  get ended(): { readonly gap: CompactedError | undefined } | undefined {
    return this.end;
  }

  /** What was delivered last, if it was several batches and began at this position. */
  joinedFrom(position: number): JoinedBatches | undefined {
    return this.joined?.from === position ? this.joined : undefined;
  }

  publish(batch: CacheBatch, atMs: number): LoggedBatch {
    const logged = this.log.append(batch, atMs);
    if (this.nextDelivery === undefined) this.scheduleDelivery();
    return logged;
  }

  private scheduleDelivery(): void {
    const pauseMs = Math.min(this.readers.size * PAUSE_PER_READER_MS, LONGEST_PAUSE_MS);
    const waitMs = this.deliveredAt + pauseMs - performance.now();
    if (pauseMs < 1 || waitMs <= 0) this.deliver();
    else this.nextDelivery = setTimeout(() => this.deliver(), waitMs);
  }

  private deliver(): void {
    this.nextDelivery = undefined;
    this.deliveredAt = performance.now();
    const from = Math.max(this.delivered, this.log.base);
    this.delivered = this.log.end;
    this.joined = this.delivered - from > 1 ? this.log.joined(from) : undefined;
    // A reader leaves the set when it takes a batch, and comes back when it has taken all.
    for (const reader of this.readers) reader.deliver();
  }

  finish(gap: CompactedError | undefined): void {
    this.end = { gap };
    clearTimeout(this.nextDelivery);
    for (const reader of this.readers) reader.finish(gap);
    this.readers.clear();
  }
}
