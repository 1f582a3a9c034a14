import { isObject, memberOf, setMember } from '../apply/members';
import { copyMap } from '../copy-map';
import type { JsonValue } from '../object';

/**
 * RFC 7396: what is null in the patch goes, maps merge, everything else replaces. Neither argument is changed; what
 * stays the same is shared with them.
 */
export function applyMergePatch(document: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const merged = isObject(document) ? copyMap(document) : {};
  for (const key in patch) {
    const value = patch[key];
    if (value === null) delete merged[key];
    else if (value !== undefined) setMember(merged, key, applyMergePatch(memberOf(merged, key), value));
  }
  return merged;
}
