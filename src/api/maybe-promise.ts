/**
 * What is there at once mostly, and later sometimes. Code on the way of every request takes the value as it is:
 * each `await` costs a turn of the microtask queue, and there are a dozen layers.
 */
export type MaybePromise<T> = T | Promise<T>;

/** What `next` makes of the value: at once if it is there, otherwise when it comes. A rejection is passed on. */
export function whenKnown<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
