import { Uint } from '../ast';
import { countWork } from '../extra-work';
import {
  Duration,
  EvalError,
  ListValue,
  MapValue,
  ObjectValue,
  Timestamp,
  TypeValue,
  typeNameOf,
  type Value,
} from '../values';
import { formatDouble } from './double-text';
import { limited } from './text-limits';
import { formatDurationValue, formatTimestamp } from './time';

const CLAUSE = /%(?:%|(?:\.(\d+))?([a-zA-Z])?)/g;

/** `"%s is %d".format([...])` (cel-go's extended strings). */
export function formatString(pattern: string, args: ListValue): string {
  let used = 0;
  const next = (): Value => {
    if (used >= args.length) throw new EvalError(`index ${used} out of range`);
    used += 1;
    return args.at(used - 1);
  };
  let text = '';
  let end = 0;
  const add = (part: string): void => {
    text = limited(text + part);
  };
  for (const { 0: clause, 1: precision, 2: verb, index } of pattern.matchAll(CLAUSE)) {
    add(pattern.slice(end, index));
    const digits = precision === undefined ? 6 : Math.min(Number(precision), 100);
    add(clause === '%%' ? '%' : formatted(verb ?? '', digits, next));
    end = index + clause.length;
  }
  add(pattern.slice(end));
  return text;
}

function formatted(verb: string, digits: number, next: () => Value): string {
  switch (verb) {
    case 's':
      return asText(next());
    case 'd':
      return decimal(next());
    case 'f':
      return fixed(next(), (value) => rounded(value, digits));
    case 'e':
      return fixed(next(), (value) => value.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2'));
    case 'b':
      return inBase(next(), 2, verb);
    case 'o':
      return inBase(next(), 8, verb);
    case 'x':
      return inBase(next(), 16, verb);
    case 'X':
      return inBase(next(), 16, verb).toUpperCase();
    default:
      throw new EvalError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function wrongType(value: Value, clause: string): never {
  throw new EvalError(
    `error during formatting: ${clause} clause can only be used on ${WANTED[clause] ?? 'numbers'}, was given ${typeNameOf(value)}`,
  );
}

const WANTED: Readonly<Record<string, string>> = {
  decimal: 'integers',
  'fixed-point': 'doubles',
  octal: 'integers',
};

function decimal(value: Value): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (typeof value === 'number' && !Number.isFinite(value)) return special(value);
  return wrongType(value, 'decimal');
}

function special(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

function fixed(value: Value, print: (value: number) => string): string {
  const number = value instanceof Uint ? Number(value.value) : typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number') return wrongType(value, 'fixed-point');
  return Number.isFinite(number) ? print(number) : special(number);
}

/** Halves go to the even neighbour, as Go rounds them. */
function rounded(value: number, digits: number): string {
  const scaled = Math.abs(value) * 10 ** digits;
  const isHalf = digits < 16 && scaled % 1 === 0.5;
  if (!isHalf || Math.floor(scaled) % 2 === 1) return value.toFixed(digits);
  return ((Math.sign(value) * Math.floor(scaled)) / 10 ** digits).toFixed(digits);
}

function inBase(value: Value, base: number, verb: string): string {
  if (typeof value === 'boolean' && base === 2) return value ? '1' : '0';
  if (typeof value === 'bigint') return value.toString(base);
  if (value instanceof Uint) return value.value.toString(base);
  if (base === 16 && typeof value === 'string') return Buffer.from(value, 'utf8').toString('hex');
  if (base === 16 && value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return wrongType(value, verb === 'o' ? 'octal' : verb);
}

/** How deep structures are printed. */
const MAX_DEPTH = 100;

/** What it takes to print one, at least. */
const COMPARISONS_PER_VALUE = 4;

/** As `%s` shows a value. */
export function asText(value: Value, depth = 0): string {
  if (depth > MAX_DEPTH) throw new EvalError('value is nested too deeply');
  countWork(COMPARISONS_PER_VALUE);
  if (value === null) return 'null';
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return Number.isFinite(value) ? formatDouble(value) : special(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
  }
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDurationValue(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof ListValue) {
    const items = Array.from({ length: value.length }, (_, index) => asText(value.at(index), depth + 1));
    return `[${items.join(', ')}]`;
  }
  if (value instanceof MapValue) return mapText(value, depth);
  if (value instanceof ObjectValue) return `${value.typeName}{}`;
  throw new EvalError(
    `error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeNameOf(value)}`,
  );
}

function mapText(map: MapValue, depth: number): string {
  const entries = map
    .keys()
    .map((key) => [asText(key, depth + 1), asText(map.get(key) as Value, depth + 1)] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, value]) => `${key}: ${value}`).join(', ')}}`;
}
