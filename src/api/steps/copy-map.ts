import { setMember } from '../apply/members';
import type { JsonObject, JsonValue } from '../object';
import { PART_VALUES, rememberKeys } from '../parts';
import { isPauseDue, keysOf, type Steps } from './pace';

/** As the plain one, which cannot be interrupted as it leaves the loop to the platform. */
export function* copyMap(map: JsonObject): Steps<Record<string, JsonValue>> {
  const copy: Record<string, JsonValue> = {};
  for (const name of keysOf(map)) {
    if (isPauseDue()) yield;
    setMember(copy, name, map[name] as JsonValue);
  }
  return copy;
}

/** Says what the keys of a new map are, all of which one of the two others has. */
export function* finishMap(map: JsonObject, one: JsonObject, other: JsonObject = {}): Steps<void> {
  const [first, second] = [keysOf(one), keysOf(other)];
  if (first.length + second.length <= PART_VALUES) return;
  const names: string[] = [];
  for (const name of first) {
    if (isPauseDue()) yield;
    if (Object.hasOwn(map, name)) names.push(name);
  }
  for (const name of second) {
    if (isPauseDue()) yield;
    if (Object.hasOwn(map, name) && !Object.hasOwn(one, name)) names.push(name);
  }
  rememberKeys(map, names);
}
