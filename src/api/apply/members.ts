import type { JsonObject, JsonValue } from '../object';
import { knownKeysOf } from '../parts';

/**
 * Reading and writing members of maps whose keys users choose: a ConfigMap may have a key `constructor` or `__proto__`,
 * which must never reach JavaScript's own object machinery.
 */

export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The own member of that name. What objects inherit is functions and the root prototype, neither of which JSON has. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  const value: unknown = object[name];
  return typeof value === 'function' || value === Object.prototype ? undefined : (value as JsonValue | undefined);
}

export function setMember(object: Record<string, JsonValue>, name: string, value: JsonValue): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[name] = value;
  }
}

/** No members, or only absent ones. */
export function isEmptyObject(value: JsonObject): boolean {
  const known = knownKeysOf(value);
  if (known !== undefined) return known.every((name) => value[name] === undefined);
  for (const name in value) if (value[name] !== undefined) return false;
  return true;
}

export function isEmptyMap(value: JsonValue | undefined): boolean {
  return !isObject(value) || isEmptyObject(value);
}

export function isMapOrNull(value: JsonValue): boolean {
  return value === null || isObject(value);
}

export function isListOrNull(value: JsonValue): boolean {
  return value === null || isList(value);
}

export function isEmptyList(value: JsonValue | undefined): boolean {
  return !isList(value) || value.length === 0;
}
