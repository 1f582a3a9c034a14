export type MutableObject = Record<string, unknown>;

/** Sets a property that may be called `__proto__`, which a plain assignment would take for the prototype. */
export function setOwn(object: MutableObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}
