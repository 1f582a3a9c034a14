import { MAX_INT64, MIN_INT64 } from '../../codec/exact-json';
import { Uint } from '../ast';
import { CONSTANT, declare, OF_BOTH, OF_LESSER, type Cost, type Overload } from '../declarations';
import { compareValues, equals } from '../equality';
import { MAX_UINT64 } from '../literals';
import { noSuchKey } from '../map-keys';
import { limited } from './text-limits';
import { checkDuration, checkTimestamp } from './time-limits';
import type { Duration, Timestamp } from '../values';
import { EvalError, ListValue, MapValue, NONE, Optional, type Value } from '../values';

/** The operators of the language, as functions (CEL specification, "Standard definitions"). */
export function operators(): readonly Overload[] {
  return [...logic(), ...comparisons(), ...arithmetic(), ...collections()];
}

const never = (): never => {
  throw new EvalError('no such overload');
};

/** Evaluated where they stand, since they need not evaluate all operands. */
function logic(): readonly Overload[] {
  return [
    declare('_&&_(bool, bool): bool', never),
    declare('_||_(bool, bool): bool', never),
    declare('_?_:_(bool, A, A): A', never),
    declare('@not_strictly_false(bool): bool', never),
    declare('!_(bool): bool', (value) => !(value as boolean)),
  ];
}

const ORDERED = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'];
const NUMBERS = ['int', 'uint', 'double'];

function comparisons(): readonly Overload[] {
  const table: readonly (readonly [string, (order: number) => boolean])[] = [
    ['_<_', (order) => order < 0],
    ['_<=_', (order) => order <= 0],
    ['_>_', (order) => order > 0],
    ['_>=_', (order) => order >= 0],
  ];
  const pairs = [
    ...ORDERED.map((type) => [type, type]),
    ...NUMBERS.flatMap((left) => NUMBERS.filter((right) => right !== left).map((right) => [left, right])),
  ];
  const relations = table.flatMap(([name, decides]) =>
    pairs.map(([left, right]) =>
      declare(
        `${name}(${left}, ${right}): bool`,
        (one, other) => decides(compareValues(one, other) ?? NaN),
        left === 'string' || left === 'bytes' ? OF_LESSER : CONSTANT,
      ),
    ),
  );
  return [
    ...relations,
    declare('_==_(A, A): bool', (one, other) => equals(one, other), OF_LESSER),
    declare('_!=_(A, A): bool', (one, other) => !equals(one, other), OF_LESSER),
  ];
}

export function int(value: bigint): bigint {
  if (value < MIN_INT64 || value > MAX_INT64) throw new EvalError('integer overflow');
  return value;
}

export function uint(value: bigint): Uint {
  if (value < 0n || value > MAX_UINT64) throw new EvalError('unsigned integer overflow');
  return new Uint(value);
}

function nonZero(value: bigint, problem: string): bigint {
  if (value === 0n) throw new EvalError(problem);
  return value;
}

/** The same operation of all three kinds of numbers. */
function ofNumbers(
  name: string,
  exact: (left: bigint, right: bigint) => bigint,
  real?: (left: number, right: number) => number,
) {
  return [
    declare(`${name}(int, int): int`, (left, right) => int(exact(left as bigint, right as bigint))),
    declare(`${name}(uint, uint): uint`, (left, right) => uint(exact((left as Uint).value, (right as Uint).value))),
    ...(real === undefined
      ? []
      : [declare(`${name}(double, double): double`, (left, right) => real(left as number, right as number))]),
  ];
}

function arithmetic(): readonly Overload[] {
  return [
    ...ofNumbers(
      '_+_',
      (left, right) => left + right,
      (left, right) => left + right,
    ),
    ...ofNumbers(
      '_-_',
      (left, right) => left - right,
      (left, right) => left - right,
    ),
    ...ofNumbers(
      '_*_',
      (left, right) => left * right,
      (left, right) => left * right,
    ),
    ...ofNumbers(
      '_/_',
      (left, right) => left / nonZero(right, 'division by zero'),
      (left, right) => left / right,
    ),
    ...ofNumbers('_%_', (left, right) => left % nonZero(right, 'modulus by zero')),
    declare('-_(int): int', (value) => int(-(value as bigint))),
    declare('-_(double): double', (value) => -(value as number)),
    declare('_+_(string, string): string', (left, right) => limited((left as string) + (right as string)), OF_BOTH),
    declare(
      '_+_(bytes, bytes): bytes',
      (left, right) => Buffer.concat([left as Uint8Array, right as Uint8Array]),
      OF_BOTH,
    ),
    declare(
      '_+_(list<A>, list<A>): list<A>',
      (left, right) => (left as ListValue).concat(right as ListValue),
      OF_ONE_SUM,
    ),
    ...timeArithmetic(),
  ];
}

const OF_ONE_SUM: Cost = { of: () => 1, result: ([left = 0, right = 0]) => left + right };

function timeArithmetic(): readonly Overload[] {
  const nanos = (value: Value | undefined): bigint => (value as Timestamp | Duration).nanos;
  return [
    declare('_+_(timestamp, duration): timestamp', (a, b) => checkTimestamp(nanos(a) + nanos(b))),
    declare('_+_(duration, timestamp): timestamp', (a, b) => checkTimestamp(nanos(a) + nanos(b))),
    declare('_+_(duration, duration): duration', (a, b) => checkDuration(nanos(a) + nanos(b))),
    declare('_-_(timestamp, timestamp): duration', (a, b) => checkDuration(nanos(a) - nanos(b))),
    declare('_-_(timestamp, duration): timestamp', (a, b) => checkTimestamp(nanos(a) - nanos(b))),
    declare('_-_(duration, duration): duration', (a, b) => checkDuration(nanos(a) - nanos(b))),
    declare('-_(duration): duration', (a) => checkDuration(-nanos(a))),
  ];
}

function collections(): readonly Overload[] {
  return [
    declare('_[_](list<A>, int): A', (list, index) => itemAt(list as ListValue, index as bigint)),
    declare('_[_](list<A>, dyn): A', (list, index) => itemAt(list as ListValue, asIndex(index))),
    declare('_[_](map<A, B>, A): B', (map, key) => valueAt(map as MapValue, key)),
    declare('_[_](map<A, B>, dyn): B', (map, key) => valueAt(map as MapValue, key)),
    declare('_[_](optional<list<A>>, int): optional<A>', indexOptional),
    declare('_[_](optional<map<A, B>>, A): optional<B>', indexOptional),
    declare('_[?_](list<A>, int): optional<A>', indexOptional),
    declare('_[?_](optional<list<A>>, int): optional<A>', indexOptional),
    declare('_[?_](map<A, B>, A): optional<B>', indexOptional),
    declare('_[?_](optional<map<A, B>>, A): optional<B>', indexOptional),
    declare('@in(A, list<A>): bool', (item, list) => isIn(item, list as ListValue), {
      of: ([, size = 0]) => size,
    }),
    declare('@in(A, map<A, B>): bool', (key, map) => (map as MapValue).get(key) !== undefined),
    declare('cel.@mapInsert(map<K, V>, K, V): map<K, V>', never),
    declare('cel.@mapInsert(map<K, V>, map<K, V>): map<K, V>', never),
  ];
}

function valueAt(map: MapValue, key: Value): Value {
  const value = map.get(key);
  return value === undefined ? noSuchKey(key) : value;
}

function asIndex(index: Value): bigint {
  if (typeof index === 'bigint') return index;
  if (index instanceof Uint) return index.value;
  if (typeof index === 'number' && Number.isInteger(index)) return BigInt(index);
  return never();
}

function itemAt(list: ListValue, index: bigint): Value {
  if (index < 0n || index >= BigInt(list.length)) throw new EvalError(`index out of bounds: ${index}`);
  return list.at(Number(index));
}

function indexOptional(container: Value | undefined, key: Value | undefined): Value {
  const inner = container instanceof Optional ? container.value : container;
  if (inner === undefined) return NONE;
  if (inner instanceof ListValue) {
    const index = asIndex(key as Value);
    return index < 0n || index >= BigInt(inner.length) ? NONE : new Optional(inner.at(Number(index)));
  }
  if (!(inner instanceof MapValue)) return never();
  const found = inner.get(key as Value);
  return found === undefined ? NONE : new Optional(found);
}

function isIn(item: Value, list: ListValue): boolean {
  for (let index = 0; index < list.length; index += 1) if (equals(item, list.at(index))) return true;
  return false;
}
