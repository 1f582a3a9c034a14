import { setFlagsFromString } from 'node:v8';

/**
 * Settings of V8 for a process that is a server and nothing else: the library leaves those of its host alone. V8 has no
 * stable flags, and complains on standard error of those that it does not know: only releases whose list was read get any.
 */

const NODE_MAJOR = Number(process.versions.node.split('.')[0]);

/**
 * V8 sees that what the cache is loaded with lives long, and from then on makes whatever is built in the same places, such
 * as each request's own records, as long-lived. As garbage they keep alive what they point to until the next full
 * collection: a tenth of a write's time, a fifth of a read's.
 */
export function startFlags(nodeMajor: number): readonly string[] {
  return nodeMajor >= 20 && nodeMajor <= 24 ? ['--no-allocation-site-pretenuring'] : [];
}

/**
 * A function is compiled with all optimizations when it has run for a quarter of V8's usual time. A server's functions run
 * for its whole life, and until they are compiled it works at half its speed: writes of the first ten seconds take a
 * twelfth less processor time, and nothing is lost later. What runs only at the start is not worth it. Node 24 has a compiler
 * between, and is a third slower at first with such a flag (docs/performance.md).
 */
export function servingFlags(nodeMajor: number): readonly string[] {
  if (nodeMajor === 20) return ['--interrupt-budget=33000'];
  return nodeMajor === 22 ? ['--invocation-count-for-turbofan=750'] : [];
}

/** Before anything else is loaded. */
export function keepRequestsShortLived(): void {
  for (const flag of startFlags(NODE_MAJOR)) setFlagsFromString(flag);
}

/** From now on the process serves. */
export function optimizeSoon(): void {
  for (const flag of servingFlags(NODE_MAJOR)) setFlagsFromString(flag);
}
