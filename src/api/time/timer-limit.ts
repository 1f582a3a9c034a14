/** Node keeps a timer's milliseconds in 31 bits, and lets one that asks for more ring at once. 24.8 days. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** For every timer whose time comes from outside: a client, a flag, a peer's response. It rings early rather than at once. */
export function timerMs(wantedMs: number): number {
  return Math.min(wantedMs, LONGEST_TIMER_MS);
}
