// API concepts, "Watch bookmarks": clients must not assume an interval. kube-apiserver uses a minute.
const BOOKMARK_INTERVAL_MS = 60_000;
/** The last bookmark comes this long before the watch ends, so that its reader resumes from a fresh version. */
const BEFORE_END_MS = 2_000;
/** How soon it is tried again when a bookmark cannot be sent. */
const RETRY_MS = 500;

/**
 * Calls `onDue` when a watch is due to tell how far it is, and again soon when that returns false, until the returned
 * function is called: a minute after the last time or shortly before the end, whichever is first; never, once that has
 * passed. `timeoutMs`: when the watch will be ended, counted from its start; absent: not known.
 */
export function startBookmarkClock(startMs: number, timeoutMs: number | undefined, onDue: () => boolean): () => void {
  const lastDueMs = startMs + (timeoutMs ?? Infinity) - BEFORE_END_MS;
  let dueMs = startMs;
  let timer: NodeJS.Timeout | undefined;
  const waitForNext = (): void => {
    if (lastDueMs <= dueMs) return;
    dueMs = Math.min(dueMs + BOOKMARK_INTERVAL_MS, lastDueMs);
    timer = setTimeout(due, Math.max(dueMs - performance.now(), 0));
  };
  const due = (): void => {
    if (onDue()) waitForNext();
    else timer = setTimeout(due, RETRY_MS);
  };
  waitForNext();
  return () => clearTimeout(timer);
}
