import type { JsonObject, JsonValue } from '../object';

/**
 * RFC 7396: what is null in the patch goes, maps merge, everything else replaces. Neither argument is changed; what
 * stays the same is shared with them.
 */
export function applyMergePatch(document: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isMap(patch)) return patch;
  const base = isMap(document) ? document : {};
  // A map without a prototype's setters: `__proto__` is a key like any other.
  const merged = new Map<string, JsonValue | undefined>(Object.entries(base));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else if (value !== undefined) merged.set(key, applyMergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
