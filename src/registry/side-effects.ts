import type { KubeObject } from '../api/object';
import type { OperationContext } from './types';

/**
 * What the writes of a kind need elsewhere in the store, besides the object itself: a service takes addresses out of
 * ranges that all replicas share. The store has no transactions over several keys, so that this is done before the
 * object is written, and undone when it is not. A server that dies in between leaves something taken without a taker;
 * an implementation of this finds such leaks again.
 */
export interface SideEffects {
  /**
   * After reset and validation, before validating admission and the store: takes what the object needs. `old` is
   * undefined for a new one. In a dry run nothing may be kept. Throws a StatusError to refuse the write, with nothing
   * taken.
   */
  begin(object: KubeObject, old: KubeObject | undefined, context: OperationContext): Promise<SideEffect>;
  /** The object has gone; gives back what it had. Does not throw: the object cannot come back. */
  removed(object: KubeObject): Promise<void>;
}

/** One write under way; exactly one of the two ends it. Neither throws. */
export interface SideEffect {
  /** The object with what has been taken for it. */
  readonly object: KubeObject;
  /** It stands in the store: gives back what only its old state needed. */
  commit(): Promise<void>;
  /** It does not: gives back what was taken. */
  rollback(): Promise<void>;
}

/**
 * Runs a write between the two ends of its side effects. `written` says whether what `write` came to counts as written.
 */
export function withSideEffects<T>(
  effects: SideEffects | undefined,
  object: KubeObject,
  old: KubeObject | undefined,
  context: OperationContext,
  write: (object: KubeObject) => Promise<T>,
  written: (outcome: T) => boolean,
): Promise<T> {
  if (effects === undefined) return write(object);
  const between = async (): Promise<T> => {
    const effect = await effects.begin(object, old, context);
    let isWritten = false;
    try {
      const outcome = await write(effect.object);
      isWritten = written(outcome);
      return outcome;
    } finally {
      await (isWritten ? effect.commit() : effect.rollback());
    }
  };
  return between();
}
