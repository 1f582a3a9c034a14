import type { CompactedError, Revision } from '../store';
import type { CacheBatch } from './cache';
import { EventLog, type LoggedBatch } from './event-log';

/** A watch that has given out everything and waits for more. */
export interface WaitingReader {
  /** The batch that was just appended. */
  deliver(logged: LoggedBatch): void;
  /** There will be no more batches: because of the gap, or because the resource is closed. */
  finish(gap: CompactedError | undefined): void;
}

/**
 * One resource's events and who waits for them. A feed is never continued over a gap: when history was lost, it ends and
 * another begins.
 */
export class EventFeed {
  readonly log: EventLog;
  readonly readers = new Set<WaitingReader>();
  private end: { readonly gap: CompactedError | undefined } | undefined;

  constructor(floor: Revision) {
    this.log = new EventLog(floor);
  }

  /** Set when the feed has ended. */
  get ended(): { readonly gap: CompactedError | undefined } | undefined {
    return this.end;
  }

  publish(batch: CacheBatch, atMs: number): LoggedBatch {
    const logged = this.log.append(batch, atMs);
    // A reader leaves the set when it takes the batch, and comes back when it asks for the next one.
    for (const reader of this.readers) reader.deliver(logged);
    return logged;
  }

  finish(gap: CompactedError | undefined): void {
    this.end = { gap };
    for (const reader of this.readers) reader.finish(gap);
    this.readers.clear();
  }
}
