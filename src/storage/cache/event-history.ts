import type { EventLog, LoggedBatch } from './event-log';

export interface HistoryLimits {
  readonly historyMs: number;
  /** Events of all resources together. */
  readonly events: number;
  /** What the events hold in memory beyond the current state, roughly. */
  readonly bytes: number;
}

/** After a quiet time all that is kept may be too old at once. The rest goes with the next events. */
const MAX_DROPPED_FOR_AGE = 2_048;

interface Queued {
  readonly log: EventLog;
  readonly logged: LoggedBatch;
}

/** Bounds the logs of all resources together: the oldest batch of all goes first, so all reach equally far back. */
export class EventHistory {
  /** Empty before `head`. */
  private queue: (Queued | undefined)[] = [];
  private head = 0;
  private events = 0;
  private bytes = 0;

  constructor(private readonly limits: HistoryLimits) {}

  add(log: EventLog, logged: LoggedBatch): void {
    this.queue.push({ log, logged });
    this.events += logged.batch.events.length;
    this.bytes += logged.bytes;
  }

  get size(): { readonly events: number; readonly bytes: number } {
    return { events: this.events, bytes: this.bytes };
  }

  /** Drops what is too old or too much. A log that is not used any more only takes its turn. */
  trim(nowMs: number): void {
    let dropped = 0;
    for (let oldest = this.queue[this.head]; oldest !== undefined; oldest = this.queue[++this.head]) {
      const { log, logged } = oldest;
      const tooOld = nowMs - logged.atMs > this.limits.historyMs && dropped++ < MAX_DROPPED_FOR_AGE;
      if (!tooOld && this.events <= this.limits.events && this.bytes <= this.limits.bytes) break;
      log.dropOldest();
      // It would keep the objects of its events.
      this.queue[this.head] = undefined;
      this.events -= logged.batch.events.length;
      this.bytes -= logged.bytes;
    }
    if (this.head > 1024 && this.head * 2 > this.queue.length) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
  }
}
