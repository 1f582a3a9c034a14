import { StoreFailure } from '../store';

/** What a look at the file and its disk shows, in bytes. */
export interface SpaceReading {
  readonly file: number;
  /** Pages of the file that hold something: all but those that will be used again. */
  readonly inUse: number;
  /** What the disk has left for us; Infinity where it does not say. */
  readonly diskFree: number;
}

export interface SpaceGuardOptions {
  /** For the pages in use; Infinity: no quota. */
  readonly quotaBytes: number;
  /** Costs some tenths of a millisecond. */
  readonly measure: () => SpaceReading;
  /** Milliseconds that never go back. */
  readonly now: () => number;
  /** Told once when space runs out, and once when there is some again. */
  readonly onChange: (shortage: Shortage | undefined) => void;
}

export interface Shortage {
  readonly cause: 'quota' | 'disk';
  /** A sentence, with paths and numbers, for the operator. */
  readonly message: string;
}

/** etcd's words for a quota that is exhausted, which kube-apiserver hands on. */
const QUOTA_WORDS = 'etcdserver: mvcc: database space exceeded';

/** A write was refused because there is no room for it. Reads, deletions and compactions go on. */
export class StoreFullError extends StoreFailure {
  constructor({ cause, message }: Shortage, options?: ErrorOptions) {
    super(message, cause === 'quota' ? QUOTA_WORDS : `${QUOTA_WORDS}: the disk is full`, {
      ...options,
      isOutOfSpace: true,
    });
    this.name = 'StoreFullError';
  }
}

/** The disk keeps this much, so that deletions and compactions still have room to work in. */
export const DISK_RESERVE_BYTES = 1024 * 1024;

const PAGE_BYTES = 4096;
/** What a write costs beside its value: its head, and its places in the tables. */
const HEAD_BYTES = 300;
/** So often the disk is looked at, which others fill too, while there are writes. */
const READING_MS = 1_000;
/** A full store looks for space so often, however many writes are refused. */
const RETRY_MS = 200;
/** Writes are taken again when this share of the quota is free: else a full store would change its mind with each deletion. */
const QUOTA_SLACK = 1 / 20;
/**
 * Writes are taken again when the disk has this much beside its reserve: room for the largest object that may be sent. Else a
 * disk that is too full for one write, but not for another, would be full and not by turns.
 */
const DISK_SLACK_BYTES = 4 * 1024 * 1024;
/** After a failure that no reading explains (a limit for files, a quota of the file system), a write is let through so often. */
const FAILURE_RETRY_MS = 1_000;

/**
 * Refuses writes for which there is no room, before they reach the disk. A reading of the file and the disk gives a budget,
 * from which writes are taken until it is used up or old; so that a write costs an addition.
 */
export class SpaceGuard {
  #budget = 0;
  /** Admitted, and not in a commit that is over: no reading shows it. */
  #unsettled = 0;
  #validUntilMs = -Infinity;
  #retryAtMs = -Infinity;
  #shortage: Shortage | undefined;
  /** A commit failed for want of space, though the reading had shown some: only a commit that succeeds says otherwise. */
  #hasFailed = false;

  constructor(
    private readonly path: string,
    private readonly options: SpaceGuardOptions,
  ) {}

  get shortage(): Shortage | undefined {
    return this.#shortage;
  }

  /**
   * Takes the room for a value of so many bytes, and returns how much that is, to be told to {@link settled}. Throws a
   * {@link StoreFullError} when there is none.
   */
  admit(valueBytes: number): number {
    const bytes = costOf(valueBytes);
    const nowMs = this.options.now();
    const isFull = this.#shortage !== undefined;
    if (isFull || bytes > this.#budget || nowMs >= this.#validUntilMs) {
      if (isFull && nowMs < this.#retryAtMs) throw new StoreFullError(this.#shortage!);
      if (this.#hasFailed) {
        this.#retryAtMs = nowMs + FAILURE_RETRY_MS;
        this.#unsettled += bytes;
        return bytes;
      }
      this.look(bytes);
      if (this.#shortage !== undefined) throw new StoreFullError(this.#shortage);
    }
    this.#budget -= bytes;
    this.#unsettled += bytes;
    return bytes;
  }

  /** Measures, and decides whether there is room for so many bytes. */
  look(bytes = 0): SpaceReading {
    const reading = this.options.measure();
    const byQuota = this.options.quotaBytes - reading.inUse - this.#unsettled;
    const byDisk = reading.diskFree + (reading.file - reading.inUse) / 2 - DISK_RESERVE_BYTES - this.#unsettled;
    const quotaSlack = this.#shortage?.cause === 'quota' ? this.options.quotaBytes * QUOTA_SLACK : 0;
    const diskSlack = this.#shortage?.cause === 'disk' ? DISK_SLACK_BYTES : 0;
    const nowMs = this.options.now();
    this.#budget = Math.min(byQuota, byDisk);
    this.#validUntilMs = nowMs + READING_MS;
    if (this.#hasFailed) return reading;
    this.#retryAtMs = nowMs + RETRY_MS;
    if (byQuota <= Math.max(bytes, quotaSlack)) this.#change(this.#quotaShortage(reading));
    else if (byDisk <= Math.max(bytes, diskSlack)) this.#change(this.#diskShortage(reading));
    else this.#change(undefined);
    return reading;
  }

  /** True when only a trial can tell whether there is space again, and one is due. */
  get needsTrial(): boolean {
    return this.#hasFailed && this.options.now() >= this.#retryAtMs;
  }

  /** A commit failed because there was no space, whatever the reading said. */
  failed(problem: string): StoreFullError {
    this.#hasFailed = true;
    this.#retryAtMs = this.options.now() + FAILURE_RETRY_MS;
    const shortage: Shortage = { cause: 'disk', message: `${this.path}: cannot be written: ${problem}` };
    this.#change(shortage);
    return new StoreFullError(shortage);
  }

  /** A commit is over for which so much had been admitted. */
  settled(admittedBytes: number, hasSucceeded: boolean): void {
    this.#unsettled -= admittedBytes;
    if (!this.#hasFailed || !hasSucceeded) return;
    this.#hasFailed = false;
    this.look();
  }

  #change(shortage: Shortage | undefined): void {
    const isNews = shortage?.cause !== this.#shortage?.cause;
    this.#shortage = shortage;
    if (isNews) this.options.onChange(shortage);
  }

  #quotaShortage({ inUse }: SpaceReading): Shortage {
    const { quotaBytes } = this.options;
    const message = `${this.path}: the quota of ${mebibytes(quotaBytes)} MiB is used up (${mebibytes(inUse)} MiB are in use)`;
    return { cause: 'quota', message };
  }

  #diskShortage({ diskFree }: SpaceReading): Shortage {
    const message = `${this.path}: its disk is full (${mebibytes(diskFree)} MiB are free, ${mebibytes(DISK_RESERVE_BYTES)} MiB are kept back)`;
    return { cause: 'disk', message };
  }
}

/** What a write takes in the file at most: a page of the log, or pages of its own for a large value. */
function costOf(valueBytes: number): number {
  return (
    Math.ceil((valueBytes + HEAD_BYTES) / PAGE_BYTES) * PAGE_BYTES + (valueBytes < PAGE_BYTES / 2 ? 0 : PAGE_BYTES)
  );
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1).replace(/\.0$/, '');
}
