/** Of connections to backends, whichever protocol they speak. */

/** How long one is kept that has nothing to do. */
export const IDLE_MS = 90_000;
/** Of TCP: one that has vanished is noticed, however long nothing is to be said. */
export const KEEP_ALIVE_MS = 30_000;
/** Of heads that backends answer with. */
export const MAX_HEADER_BYTES = 64 * 1024;
