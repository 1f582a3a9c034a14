import { setMaxListeners } from 'node:events';

const callbacks = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when a signal aborts that thousands wait for: an EventTarget compares each new listener with all that it has, and this
 * does not. At once when it has aborted. Returns how to be called no more.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  let waiting = callbacks.get(signal);
  if (waiting === undefined) {
    const all = (waiting = new Set());
    callbacks.set(signal, all);
    setMaxListeners(0, signal);
    signal.addEventListener('abort', () => all.forEach((one) => one()), { once: true });
  }
  const own = waiting;
  own.add(callback);
  return () => void own.delete(callback);
}
