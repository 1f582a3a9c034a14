import { isObject, memberOf, setMember } from '../apply/members';
import { copyMap, finishMap } from '../copy-map';
import type { JsonValue } from '../object';

/**
 * RFC 7396: what is null in the patch goes, maps merge, everything else replaces. As with kube-apiserver, a list that the patch
 * sets loses its nulls, and so do the maps and lists in it. Neither argument is changed; what stays the same is shared with them.
 */
export function applyMergePatch(document: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return Array.isArray(patch) ? withoutNulls(patch as readonly JsonValue[]) : patch;
  const before = isObject(document) ? document : {};
  const merged = copyMap(before);
  for (const key in patch) {
    const value = patch[key];
    if (value === null) delete merged[key];
    else if (value !== undefined) setMember(merged, key, applyMergePatch(memberOf(merged, key), value));
  }
  finishMap(merged, before, patch);
  return merged;
}

function withoutNulls(list: readonly JsonValue[]): JsonValue {
  const kept: JsonValue[] = [];
  for (const item of list) {
    if (item === null) continue;
    kept.push(applyMergePatch(undefined, item));
  }
  return kept;
}
