import { setTimeout as delay } from 'node:timers/promises';

const RETRY_MS = 500;

/**
 * Repeats what may fail for a while, because the store is away or another replica is at it too, until it succeeds. Tells
 * `onFailure` of each failure; rejects only when the signal aborts.
 */
export async function keepTrying(
  action: () => Promise<void>,
  onFailure: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error);
      await delay(RETRY_MS, undefined, { signal });
    }
  }
}
