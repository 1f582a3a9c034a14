// API concepts, "Watch bookmarks": clients must not assume an interval. kube-apiserver uses a minute.
const BOOKMARK_INTERVAL_MS = 60_000;
/** The last bookmark comes this long before the watch ends, so that its reader resumes from a fresh version. */
const BEFORE_END_MS = 2_000;
/** How soon it is tried again when a bookmark cannot be sent. */
const RETRY_MS = 500;

/** When a watch is due to tell how far it is. */
export class BookmarkClock {
  private dueMs: number;
  private readonly lastDueMs: number;

  /** `timeoutMs`: when the watch will be ended, counted from its start; absent: not known. */
  constructor(startMs: number, timeoutMs: number | undefined) {
    this.lastDueMs = startMs + (timeoutMs ?? Infinity) - BEFORE_END_MS;
    this.dueMs = this.dueAfter(startMs);
  }

  /** Calls `onDue` each time, and again soon when it returns false, until the returned function is called. */
  start(onDue: () => boolean): () => void {
    let timer: NodeJS.Timeout | undefined;
    const wait = (ms: number): void => {
      if (ms !== Infinity) timer = setTimeout(due, Math.max(ms, 0));
    };
    const due = (): void => {
      if (!onDue()) return wait(RETRY_MS);
      this.dueMs = this.dueAfter(this.dueMs);
      wait(this.dueMs - performance.now());
    };
    wait(this.dueMs - performance.now());
    return () => clearTimeout(timer);
  }

  /** A minute later or shortly before the end, whichever is first; never, once that has passed. */
  private dueAfter(nowMs: number): number {
    if (this.lastDueMs <= nowMs) return Infinity;
    return Math.min(nowMs + BOOKMARK_INTERVAL_MS, this.lastDueMs);
  }
}
