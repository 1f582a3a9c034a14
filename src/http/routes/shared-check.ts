import type { MaybePromise } from '../../api/maybe-promise';

/** Upstream gives etcd, the slowest of its checks, this long. */
const CHECK_TIMEOUT_MS = 2_000;
/** A probe is told what was found by a question that began at most this long before the probe came. */
const SHARED_FOR_MS = 250;

/** A question that was asked: under way, or what came of it. */
interface Asked {
  readonly atMs: number;
  outcome: Promise<void> | { readonly error?: unknown };
}

/**
 * A check that asks another server, such as etcd. Probes share its questions, so that strangers who probe in a loop cost
 * no more than four questions a second; a question without an answer is not waited for by those who come later, and
 * fails after two seconds. At most eight are under way.
 */
export function sharedCheck(
  ask: (signal: AbortSignal) => Promise<void>,
  clock: () => number = () => performance.now(),
): () => MaybePromise<void> {
  let last: Asked | undefined;
  return () => {
    const now = clock();
    if (last === undefined || now - last.atMs >= SHARED_FOR_MS) last = begin(ask, now);
    const { outcome } = last;
    if (outcome instanceof Promise) return outcome;
    if ('error' in outcome) throw outcome.error;
  };
}

function begin(ask: (signal: AbortSignal) => Promise<void>, atMs: number): Asked {
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`not answered within ${CHECK_TIMEOUT_MS} ms`)));
  });
  const outcome = Promise.race([ask(signal), late]);
  const asked: Asked = { atMs, outcome };
  outcome.then(
    () => (asked.outcome = {}),
    (error: unknown) => (asked.outcome = { error }),
  );
  return asked;
}
