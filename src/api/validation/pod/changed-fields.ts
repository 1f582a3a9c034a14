import { stringifyExact } from '../../codec/exact-json';
import { printJson } from '../../codec/json-print';
import { isLarge, type Steps } from '../../parts';
import { deepEqual } from '../../steps/generated/kinds/deep-equal';

/** Of a value with very many parts: who reads of it sees what has changed sooner than all of it. */
const MAX_SHOWN_BYTES = 16 * 1024;

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
export function* describeChangedFields(fields: Fields, old: Fields, type: string): Steps<string | undefined> {
  const lines: string[] = [];
  for (const name of new Set([...Object.keys(fields), ...Object.keys(old)])) {
    if (yield* deepEqual(fields[name], old[name])) continue;
    if (old[name] !== undefined) lines.push(`- \t${name}: ${yield* print(old[name])},`);
    if (fields[name] !== undefined) lines.push(`+ \t${name}: ${yield* print(fields[name])},`);
  }
  return lines.length === 0 ? undefined : [`  ${type}{`, ...lines, '  }', ''].join('\n');
}

function* print(value: unknown): Steps<string> {
  if (!isLarge(value)) return stringifyExact(value);
  const { bytes } = yield* printJson(value as object);
  const text = bytes.toString('utf8', 0, MAX_SHOWN_BYTES);
  return bytes.length > MAX_SHOWN_BYTES ? `${text}...` : text;
}
