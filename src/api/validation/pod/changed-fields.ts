import { stringifyExact } from '../../codec/exact-json';
import { deepEqual } from '../../kinds/deep-equal';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields that differ, framed by the name of their type, before and after as JSON. Undefined when none does. Clients print
 * it as it is:
 *
 *       core.PodSpec{
 *     - 	hostname: "a",
 *     + 	hostname: "b",
 *       }
 */
export function describeChangedFields(fields: Fields, old: Fields, type: string): string | undefined {
  const print = (sign: string, name: string, value: unknown): readonly string[] =>
    value === undefined ? [] : [`${sign} \t${name}: ${stringifyExact(value)},`];
  const lines = [...new Set([...Object.keys(fields), ...Object.keys(old)])]
    .filter((name) => !deepEqual(fields[name], old[name]))
    .flatMap((name) => [...print('-', name, old[name]), ...print('+', name, fields[name])]);
  return lines.length === 0 ? undefined : [`  ${type}{`, ...lines, '  }', ''].join('\n');
}
