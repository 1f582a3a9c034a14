import type { KubeObject } from './object';
import type { Steps } from './parts';

/** Brings an object up to what its kind's schema says now. Gives the object itself when there is nothing to do. */
export interface Completion {
  (object: KubeObject): KubeObject;
  /** The same for a large object. Absent: it never takes long. */
  readonly inSteps?: (object: KubeObject) => Steps<KubeObject>;
}

/** As if `second` were given what `first` gives; either may be missing. */
export function inSuccession(first: Completion | undefined, second: Completion | undefined): Completion | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return Object.assign((object: KubeObject) => second(first(object)), {
    *inSteps(object: KubeObject): Steps<KubeObject> {
      return yield* completed(second, yield* completed(first, object));
    },
  });
}

/** What a completion makes of a large object. */
export function* completed(completion: Completion, object: KubeObject): Steps<KubeObject> {
  return completion.inSteps === undefined ? completion(object) : yield* completion.inSteps(object);
}
