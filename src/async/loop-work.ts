/**
 * What the event loop is at: what begins says so, which costs a look at the clock and a few stores, and
 * its end is not told. The one after which nothing else began for longest is what held the loop.
 */

/** Something that can say what it is, when it must: who wanted what, never contents. */
export interface Work {
  describeWork(): Readonly<Record<string, unknown>>;
  /** The name of the user that it is done for. */
  readonly workOwner: string;
}

/** What was found to have held the loop. */
export interface HeldBy {
  /** Undefined: nothing was told. */
  readonly work: Work | string | undefined;
  /** From its beginning to that of the next. */
  readonly ms: number;
  /** How many works began. */
  readonly begun: number;
}

let current: Work | string | undefined;
let currentSince = 0;
let longest: Work | string | undefined;
let longestMs = 0;
let begun = 0;

/** From here on the loop works on this, until another begins. */
export function beginWork(work: Work | string, now = performance.now()): void {
  const ms = now - currentSince;
  if (ms > longestMs) {
    longestMs = ms;
    longest = current;
  }
  current = work;
  currentSince = now;
  begun++;
}

/** What took longest since this was last asked. Nothing is kept of it: what is begun holds requests and their bodies. */
export function takeLongestWork(now: number): HeldBy {
  if (now - currentSince > longestMs) {
    longestMs = now - currentSince;
    longest = current;
  }
  const held = { work: longest, ms: longestMs, begun };
  current = longest = undefined;
  currentSince = now;
  longestMs = begun = 0;
  return held;
}
