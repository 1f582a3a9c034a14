import type { Uint } from '../ast';
import { declare, OF_TEXT, type Overload } from '../declarations';
import type { ListValue, MapValue, Duration, Timestamp } from '../values';
import { EvalError, typeNameOf, TypeValue, type Value } from '../values';
import { countCharacters } from '../../count-characters';
import { countPassed } from '../extra-work';
import { MAX_INT64, MIN_INT64 } from '../../codec/exact-json';
import { int, uint } from './operators';
import { durationOf, formatDurationValue, formatTimestamp, timestampOf } from './time';
import { checkTimestamp } from './time-limits';
import { formatDouble } from './double-text';

/** Functions that make a value of one type of one of another, and `size`. */
export function conversions(): readonly Overload[] {
  const same = (value: Value | undefined): Value => value as Value;
  return [
    declare('dyn(A): dyn', same),
    declare('type(A): type<A>', (value) => new TypeValue(typeNameOf(value))),
    declare('bool(bool): bool', same),
    declare('bool(string): bool', (text) => boolOf(text as string)),
    declare('int(int): int', same),
    declare('int(uint): int', (value) => int((value as Uint).value)),
    declare('int(double): int', (value) => int(truncated(value as number, 'integer overflow'))),
    declare('int(string): int', (text) => int(parsedInteger(text as string, /^[+-]?\d+$/))),
    declare('int(timestamp): int', (value) => seconds(value as Timestamp)),
    declare('uint(uint): uint', same),
    declare('uint(int): uint', (value) => uint(value as bigint)),
    declare('uint(double): uint', (value) => uint(truncated(value as number, 'unsigned integer overflow'))),
    declare('uint(string): uint', (text) => uint(parsedInteger(text as string, /^\d+$/))),
    declare('double(double): double', same),
    declare('double(int): double', (value) => Number(value)),
    declare('double(uint): double', (value) => Number((value as Uint).value)),
    declare('double(string): double', (text) => doubleOf(text as string)),
    declare('bytes(bytes): bytes', same),
    declare('bytes(string): bytes', (text) => Buffer.from(text as string, 'utf8'), OF_TEXT),
    declare('string(string): string', same),
    declare('string(bool): string', String),
    declare('string(int): string', String),
    declare('string(uint): string', (value) => String((value as Uint).value)),
    declare('string(double): string', (value) => formatDouble(value as number)),
    declare('string(bytes): string', (value) => textOf(value as Uint8Array), OF_TEXT),
    declare('string(timestamp): string', (value) => formatTimestamp(value as Timestamp)),
    declare('string(duration): string', (value) => formatDurationValue(value as Duration)),
    declare('timestamp(timestamp): timestamp', same),
    declare('timestamp(int): timestamp', (value) => checkTimestamp((value as bigint) * 1_000_000_000n)),
    declare('timestamp(string): timestamp', (text) => timestampOf(text as string)),
    declare('duration(duration): duration', same),
    declare('duration(string): duration', (text) => durationOf(text as string)),
    ...sizes(),
  ];
}

function sizeOfText(text: string): number {
  countPassed(text.length);
  return countCharacters(text);
}

function sizes(): readonly Overload[] {
  const table: readonly (readonly [string, (value: Value) => number])[] = [
    ['string', (value) => sizeOfText(value as string)],
    ['bytes', (value) => (value as Uint8Array).length],
    ['list<A>', (value) => (value as ListValue).length],
    ['map<A, B>', (value) => (value as MapValue).size],
  ];
  return table.flatMap(([type, size]) => [
    declare(`size(${type}): int`, (value) => BigInt(size(value))),
    declare(`${type}.size(): int`, (value) => BigInt(size(value))),
  ]);
}

function boolOf(text: string): boolean {
  if (['true', 'TRUE', 'True', 't', 'T', '1'].includes(text)) return true;
  if (['false', 'FALSE', 'False', 'f', 'F', '0'].includes(text)) return false;
  throw new EvalError(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function parsedInteger(text: string, syntax: RegExp): bigint {
  // Longer ones are out of range; reading one takes time that grows with the square of its length.
  if (!syntax.test(text)) throw new EvalError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  if (text.length > 64) throw new EvalError('integer overflow');
  return BigInt(text.replace(/^\+/, ''));
}

/** The nearest doubles to the ends of the range are not in it. */
function truncated(value: number, problem: string): bigint {
  if (!Number.isFinite(value)) throw new EvalError(problem);
  const whole = BigInt(Math.trunc(value));
  const isInt = problem === 'integer overflow';
  if (isInt && (whole <= MIN_INT64 || whole > MAX_INT64)) throw new EvalError(problem);
  return whole;
}

function doubleOf(text: string): number {
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text);
  if (/^[+-]?(nan)$/i.test(text)) return NaN;
  const infinite = /^([+-]?)inf(inity)?$/i.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  throw new EvalError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function seconds({ nanos }: Timestamp): bigint {
  const whole = nanos / 1_000_000_000n;
  return nanos % 1_000_000_000n < 0n ? whole - 1n : whole;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new EvalError('invalid UTF-8 in bytes, cannot convert to string');
  }
}
