import { deepEqual } from '../../kinds/deep-equal';

type Fields = Readonly<Record<string, unknown>>;

/** One line for each field that differs, as JSON: `spec.hostname: "a" -> "b"`. Empty when none does. */
export function describeChangedFields(fields: Fields, old: Fields, path: string): string {
  const print = (value: unknown): string => JSON.stringify(value ?? null);
  return [...new Set([...Object.keys(fields), ...Object.keys(old)])]
    .filter((name) => !deepEqual(fields[name], old[name]))
    .map((name) => `${path}.${name}: ${print(old[name])} -> ${print(fields[name])}`)
    .join('\n');
}
