// API concepts, "Watch bookmarks": clients must not assume an interval. kube-apiserver uses a minute.
const BOOKMARK_INTERVAL_MS = 60_000;
/** The last bookmark comes this long before the watch ends, so that its reader resumes from a fresh version. */
const BEFORE_END_MS = 2_000;

/** When a watch is due to tell how far it is. */
export class BookmarkClock {
  private dueMs: number;
  private readonly lastDueMs: number;

  /** `timeoutMs`: when the watch will be ended, counted from its start; absent: not known. */
  constructor(startMs: number, timeoutMs: number | undefined) {
    this.lastDueMs = startMs + (timeoutMs ?? Infinity) - BEFORE_END_MS;
    this.dueMs = this.dueAfter(startMs);
  }

  /** What `pending` resolves to, or `due` when a bookmark is to be sent first; then `pending` can be handed in again. */
  untilDue<T>(pending: Promise<T>): Promise<T | 'due'> {
    const waitMs = this.dueMs - performance.now();
    if (waitMs === Infinity) return pending;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.dueMs = this.dueAfter(this.dueMs);
          resolve('due');
        },
        Math.max(waitMs, 0),
      );
      pending.then(
        (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        (error: Error) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    });
  }

  /** A minute later or shortly before the end, whichever is first; never, once that has passed. */
  private dueAfter(nowMs: number): number {
    if (this.lastDueMs <= nowMs) return Infinity;
    return Math.min(nowMs + BOOKMARK_INTERVAL_MS, this.lastDueMs);
  }
}
