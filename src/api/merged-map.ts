import { setOwn } from './codec/set-own';
import { fill } from './fill-later';
import { isLarge, keysOf, rememberKeys, type Steps } from './parts';

type Members<Value> = Readonly<Record<string, Value>>;

/**
 * `{ ...first, ...then }`, neither of which is still to be filled itself. The members of a large result may be filled in later
 * (`fill-later.ts`), its keys are known at once.
 */
export function mergedMap<Value>(first: Members<Value>, then: Members<Value>): Record<string, Value> {
  if (!isLarge(first) && !isLarge(then)) return { ...first, ...then };
  const names = [...keysOf(first), ...keysOf(then).filter((name) => !Object.hasOwn(first, name))];
  const merged: Record<string, Value> = {};
  rememberKeys(merged, names);
  fill(putInto(merged, names, first, then));
  return merged;
}

function* putInto<Value>(
  merged: Record<string, Value>,
  names: readonly string[],
  first: Members<Value>,
  then: Members<Value>,
): Steps<void> {
  for (const name of names) {
    setOwn(merged, name, Object.hasOwn(then, name) ? then[name] : first[name]);
    yield;
  }
}
