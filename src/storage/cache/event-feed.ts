import { beginWork } from '../../async/loop-work';
import type { CompactedError, Revision } from '../store';
import type { CacheBatch } from './cache';
import { EventLog, type JoinedBatches, type LoggedBatch } from './event-log';
import { WaitingReaders, type WaitingReader } from './waiting-readers';

/**
 * Writing to a watcher costs some 30 microseconds, however little is written. Where there are many, the next delivery waits
 * until several batches can go out as one: so long per reader, but never longer than the most. Few wait for nothing.
 */
const PAUSE_PER_READER_MS = 0.1;
const LONGEST_PAUSE_MS = 25;
const FEW = 10;
/** After so many readers, or so many bytes for them, whatever else there is to do gets its turn. */
const READERS_PER_TURN = 250;
const BYTES_PER_TURN = 256 * 1024;

/**
 * One resource's events and the watches that wait for them. A feed is never continued over a gap: when history was lost, it ends and
 * another begins.
 */
export class EventFeed {
  readonly log: EventLog;
  /** Those that read the log, whether they wait or not. */
  readonly readers = new WaitingReaders();
  private deliverable = 0;
  private deliverableRevision: Revision;
  private publishedRevision: Revision;
  private settledAt: { readonly position: number; readonly revision: Revision };
  private joined: JoinedBatches | undefined;
  /** Stops the delivery under way, or the wait for the next one. */
  private cancel: (() => void) | undefined;
  private quietUntil = -Infinity;
  private end: { readonly gap: CompactedError | undefined } | undefined;

  constructor(floor: Revision) {
    this.log = new EventLog(floor);
    this.publishedRevision = this.deliverableRevision = floor;
    this.settledAt = { position: 0, revision: floor };
  }

  /** Set when the feed has ended. */
  get ended(): { readonly gap: CompactedError | undefined } | undefined {
    return this.end;
  }

  /** Readers may take the log up to (without) this position; what comes after it is delivered later. */
  get delivered(): number {
    return this.deliverable;
  }

  /**
   * Up to (without) this position, and with this revision, every waiting reader has been told of what concerns it: one that
   * was not told of anything has nothing to read there.
   */
  get settled(): { readonly position: number; readonly revision: Revision } {
    return this.settledAt;
  }

  /** What was delivered last, if it was several batches and began at this position. */
  joinedFrom(position: number): JoinedBatches | undefined {
    return this.joined?.from === position ? this.joined : undefined;
  }

  publish(batch: CacheBatch, atMs: number): LoggedBatch {
    const logged = this.log.append(batch, atMs);
    this.publishedRevision = batch.revision;
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
    beginWork('delivering events to watches');
    this.cancel = undefined;
    const isComplete = this.deliverable >= this.log.base;
    const from = isComplete ? this.deliverable : this.log.base;
    this.deliverable = this.log.end;
    this.deliverableRevision = this.publishedRevision;
    this.joined = this.deliverable - from > 1 ? this.log.joined(from) : undefined;
    // Whom it concerned is not known of what the log has dropped already.
    const batches = this.log.batchesFrom(from);
    const readers = isComplete ? this.readers.concernedBy(batches) : this.readers.all();
    if (readers.length >= FEW) return this.deliverTo(readers, 0, sizeOf(batches));
    for (const reader of readers) reader.deliver();
    this.settle();
  }

  private deliverTo(readers: readonly WaitingReader[], from: number, size: DeliverySize): void {
    let to = from;
    let left = BYTES_PER_TURN;
    for (const reader of readers.slice(from, from + READERS_PER_TURN)) {
      const bytes = reader.interest === undefined ? size.bytes : size.bytesOfOne;
      if (to > from && bytes > left) break;
      left -= bytes;
      to++;
      reader.deliver();
    }
    const turn = setImmediate(() => {
      if (to < readers.length) return this.deliverTo(readers, to, size);
      this.settle();
      this.cancel = undefined;
      this.quietUntil = performance.now() + Math.min(readers.length * PAUSE_PER_READER_MS, LONGEST_PAUSE_MS);
      if (this.deliverable < this.log.end) this.scheduleDelivery();
    });
    this.cancel = () => clearImmediate(turn);
  }

  private settle(): void {
    this.settledAt = { position: this.deliverable, revision: this.deliverableRevision };
  }

  finish(gap: CompactedError | undefined): void {
    this.end = { gap };
    this.cancel?.();
    for (const reader of this.readers.all()) reader.finish(gap);
  }
}

/** What a reader of everything gets, and roughly one who wants to hear of some objects only. */
interface DeliverySize {
  readonly bytes: number;
  readonly bytesOfOne: number;
}

function sizeOf(batches: readonly CacheBatch[]): DeliverySize {
  let bytes = 0;
  let count = 0;
  for (const { events } of batches) {
    count += events.length;
    for (const { entry } of events) bytes += entry.size;
  }
  return { bytes, bytesOfOne: bytes / Math.max(1, count) };
}
