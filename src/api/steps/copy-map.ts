import { setMember } from '../apply/members';
import type { JsonObject, JsonValue } from '../object';
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
