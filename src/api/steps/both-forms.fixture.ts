import { inspect, isDeepStrictEqual } from 'node:util';
import type { Steps } from './pace';

/** What came of it, and how often others might have had their turn. */
export interface Taken<Result> {
  readonly result: Result;
  readonly pauses: number;
}

export function take<Result>(steps: Steps<Result>): Taken<Result> {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done === true) return { result: value, pauses };
  }
}

/** A function in its plain form, which fails where the one in steps does not the same. */
export function inBothForms<Arguments extends readonly unknown[], Result>(
  plain: (...args: Arguments) => Result,
  steps: (...args: Arguments) => Steps<Result>,
): (...args: Arguments) => Result {
  return (...args) => {
    const found = outcomeOf(() => take(steps(...args)).result);
    const wanted = outcomeOf(() => plain(...args));
    if (!isDeepStrictEqual(found, wanted)) throw new Error(`${inspect(found)} is not ${inspect(wanted)}`);
    if ('error' in wanted) throw wanted.error;
    return wanted.result;
  };
}

function outcomeOf<Result>(run: () => Result): { readonly result: Result } | { readonly error: unknown } {
  try {
    return { result: run() };
  } catch (error) {
    return { error };
  }
}
