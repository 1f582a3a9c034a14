/**
 * What is there at once mostly, and later sometimes. Whoever asks on the way of every request takes the value as it is:
 * each `await` costs a turn of the microtask queue, and there are a dozen layers.
 */
export type MaybePromise<T> = T | Promise<T>;
