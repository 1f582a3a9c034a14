import type { Steps } from './pace';

let reads = 0;

/** A copy of plain data that counts what is read of it. */
export function counted<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.entries(value).map(([name, one]) => [name, counted(one as unknown)] as const);
  const copy: object = Array.isArray(value) ? inner.map(([, one]) => one) : Object.fromEntries(inner);
  const get = (target: object, name: PropertyKey): unknown => {
    reads += 1;
    return target[name as never];
  };
  return new Proxy(copy, { get }) as T;
}

/** How often the step that reads most of what is counted reads of it. */
export function mostReads(steps: Steps<unknown>): number {
  let most = 0;
  for (let done: boolean | undefined = false; done !== true; most = Math.max(most, reads)) {
    reads = 0;
    done = steps.next().done;
  }
  return most;
}
