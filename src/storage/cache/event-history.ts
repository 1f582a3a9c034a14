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
  readonly position: number;
}

/** Bounds the logs of all resources together: the oldest batch of all goes first, so all reach equally far back. */
export class EventHistory {
  /** Empty before `head`. */
  private queue: (Queued | undefined)[] = [];
  private head = 0;
  private events = 0;
  private bytes = 0;

  constructor(private readonly limits: HistoryLimits) {}

  /** For the batch that the log has just taken. */
  add(log: EventLog, logged: LoggedBatch): void {
    this.queue.push({ log, position: log.end - 1 });
    this.events += logged.batch.events.length;
    this.bytes += logged.bytes;
  }

  get size(): { readonly events: number; readonly bytes: number } {
    return { events: this.events, bytes: this.bytes };
  }

  /** Drops a log that nobody reads any more. One that is not given up only takes its turn. */
  release(log: EventLog): void {
    for (const logged of log.clear()) this.subtract(logged);
  }

  private subtract({ batch, bytes }: LoggedBatch): void {
    this.events -= batch.events.length;
    this.bytes -= bytes;
  }

  /** Drops what is too old or too much. */
  trim(nowMs: number): void {
    let dropped = 0;
    for (let oldest = this.queue[this.head]; oldest !== undefined; oldest = this.queue[++this.head]) {
      const { log, position } = oldest;
      // It would keep the log.
      const logged = log.at(position);
      if (logged === undefined) {
        this.queue[this.head] = undefined;
        continue;
      }
      const tooOld = nowMs - logged.atMs > this.limits.historyMs && dropped++ < MAX_DROPPED_FOR_AGE;
      if (!tooOld && this.events <= this.limits.events && this.bytes <= this.limits.bytes) break;
      log.dropOldest();
      this.queue[this.head] = undefined;
      this.subtract(logged);
    }
    if (this.head > 1024 && this.head * 2 > this.queue.length) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
  }
}
