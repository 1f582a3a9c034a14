/**
 * Reads fields of plain JSON data by path. What is absent, or of another type than asked for, reads as the zero value,
 * as it would in Go; use {@link valueAt} where absence matters.
 */
export type PlainMap = Readonly<Record<string, unknown>>;

export function isPlainMap(value: unknown): value is PlainMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (!isPlainMap(current)) return undefined;
    current = current[name];
  }
  return current;
}

export function stringAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function numberAt(value: unknown, ...path: readonly string[]): number {
  const found = valueAt(value, ...path);
  return typeof found === 'number' || typeof found === 'bigint' ? Number(found) : 0;
}

export function booleanAt(value: unknown, ...path: readonly string[]): boolean {
  return valueAt(value, ...path) === true;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}

export function mapAt(value: unknown, ...path: readonly string[]): PlainMap {
  const found = valueAt(value, ...path);
  return isPlainMap(found) ? found : {};
}
