import { Uint } from './ast';
import { EvalError, keyText, typeNameOf, type Value } from './values';

/** Adds an entry to a map in the making. Throws for what is no key, and for one that is there. */
export function insert(map: Map<string, readonly [Value, Value]>, key: Value, value: Value): void {
  const text = typeof key === 'number' ? undefined : keyText(key);
  if (text === undefined) throw new EvalError('unsupported key type');
  if (map.has(text)) throw new EvalError(`insert failed: key ${shortText(key)} already exists`);
  map.set(text, [key, value]);
}

export function noSuchKey(key: Value): never {
  throw new EvalError(`no such key: ${shortText(key)}`);
}

function shortText(key: Value): string {
  if (key instanceof Uint) return String(key.value);
  return typeof key === 'object' ? typeNameOf(key) : String(key);
}
