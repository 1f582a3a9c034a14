import { setTimeout as delay } from 'node:timers/promises';
import { StoreFailure } from '../storage/store';

const RETRY_MS = 500;

/**
 * Repeats what may fail for a while, because the store is away or another replica is at it too, until it succeeds. Tells
 * `onFailure` of each failure that is another than the last one; rejects when the signal aborts, and when the store has no
 * space, which does not come back by waiting.
 */
export async function keepTrying(
  action: () => Promise<void>,
  onFailure: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  let told = '';
  for (;;) {
    try {
      return await action();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StoreFailure && error.isOutOfSpace) throw error;
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== told) onFailure(error);
      told = problem;
      await delay(RETRY_MS, undefined, { signal });
    }
  }
}
