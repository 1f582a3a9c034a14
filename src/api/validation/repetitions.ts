import { isPlainMap } from '../kinds/field-values';
import type { JsonValue } from '../object';
import { sortedJson } from '../sorted-json';

/** For each key whether it stands before already. Keys are compared as a Map does; each is looked at once. */
export function repetitions(keys: readonly unknown[]): readonly boolean[] {
  return keys.map(repetitionsInOrder());
}

/** The same for keys that are looked at one after another, of lists that may be long. */
export function repetitionsInOrder(): (key: unknown) => boolean {
  const seen = new Set<unknown>();
  return (key) => seen.size === seen.add(key).size;
}

/** A text that is the same for values that `deepEqual` finds equal: what is absent, null or an empty list is left out. */
export function contentKey(value: unknown): string {
  return sortedJson(content(value) as JsonValue) ?? '';
}

function content(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map((item) => content(item) ?? null);
  if (!isPlainMap(value)) return value ?? null;
  const members = Object.entries(value)
    .map(([name, member]) => [name, content(member)] as const)
    .filter(([, member]) => member !== null);
  return Object.fromEntries(members);
}
