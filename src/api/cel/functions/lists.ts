import { Uint } from '../ast';
import { declare, OF_LIST, type Cost, type Overload } from '../declarations';
import { compareValues, equals } from '../equality';
import { type Duration, EvalError, Items, ListValue, NONE, Optional, type Value } from '../values';
import { int, uint } from './operators';
import { checkDuration } from './time-limits';

const ORDERED = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

const OF_PRODUCT: Cost = { of: ([left = 0, right = 0]) => left * right + 1, result: ([size = 0]) => size };

/** Kubernetes' lists, cel-go's sets, lists and optionals. */
export function listFunctions(): readonly Overload[] {
  return [
    ...ORDERED.flatMap((type) => [
      declare(`list<${type}>.isSorted(): bool`, (list) => isSorted(list as ListValue), OF_LIST),
      declare(`list<${type}>.min(): ${type}`, (list) => extreme(list as ListValue, -1), OF_LIST),
      declare(`list<${type}>.max(): ${type}`, (list) => extreme(list as ListValue, 1), OF_LIST),
    ]),
    declare(
      'list<int>.sum(): int',
      (list) => items(list).reduce((sum, one) => int((sum as bigint) + (one as bigint)), 0n),
      OF_LIST,
    ),
    declare(
      'list<uint>.sum(): uint',
      (list) => items(list).reduce((sum, one) => uint((sum as Uint).value + (one as Uint).value), new Uint(0n)),
      OF_LIST,
    ),
    declare(
      'list<double>.sum(): double',
      (list) => items(list).reduce((sum, one) => (sum as number) + (one as number), 0),
      OF_LIST,
    ),
    declare(
      'list<duration>.sum(): duration',
      (list) => checkDuration(items(list).reduce<bigint>((sum, one) => sum + (one as Duration).nanos, 0n)),
      OF_LIST,
    ),
    declare('list<T>.indexOf(T): int', (list, item) => indexOf(items(list), item), OF_LIST),
    declare('list<T>.lastIndexOf(T): int', (list, item) => lastIndexOf(items(list), item), OF_LIST),
    declare('sets.contains(list<T>, list<T>): bool', (list, other) => containsAll(list, other), OF_PRODUCT),
    declare(
      'sets.equivalent(list<T>, list<T>): bool',
      (list, other) => containsAll(list, other) && containsAll(other, list),
      OF_PRODUCT,
    ),
    declare(
      'sets.intersects(list<T>, list<T>): bool',
      (list, other) => items(other).some((item) => isIn(items(list), item)),
      OF_PRODUCT,
    ),
    ...optionals(),
  ];
}

function items(list: Value | undefined): readonly Value[] {
  const from = list as ListValue;
  return from instanceof Items ? from.items : Array.from({ length: from.length }, (_, index) => from.at(index));
}

function ordered(left: Value, right: Value): number {
  const order = compareValues(left, right);
  if (order === undefined) throw new EvalError('no such overload');
  return order;
}

function isSorted(list: ListValue): boolean {
  for (let index = 1; index < list.length; index += 1) {
    if (ordered(list.at(index - 1), list.at(index)) > 0) return false;
  }
  return true;
}

function extreme(list: ListValue, sign: 1 | -1): Value {
  if (list.length === 0) throw new EvalError(`${sign < 0 ? 'min' : 'max'} called on empty list`);
  return items(list).reduce((best, one) => (ordered(one, best) * sign > 0 ? one : best));
}

function indexOf(list: readonly Value[], item: Value): bigint {
  return BigInt(list.findIndex((one) => equals(one, item)));
}

function lastIndexOf(list: readonly Value[], item: Value): bigint {
  for (let index = list.length - 1; index >= 0; index -= 1)
    if (equals(list[index] as Value, item)) return BigInt(index);
  return -1n;
}

function isIn(list: readonly Value[], item: Value): boolean {
  return list.some((one) => equals(one, item));
}

function containsAll(list: Value | undefined, other: Value | undefined): boolean {
  const all = items(list);
  return items(other).every((item) => isIn(all, item));
}

function optionals(): readonly Overload[] {
  const inner = (value: Value | undefined): Value | undefined => (value as Optional).value;
  return [
    declare('optional.of(T): optional<T>', (value) => new Optional(value)),
    declare('optional.ofNonZeroValue(T): optional<T>', (value) => (isZero(value) ? NONE : new Optional(value))),
    declare('optional.none(): optional<T>', () => NONE),
    declare('optional<T>.hasValue(): bool', (value) => inner(value) !== undefined),
    declare('optional<T>.value(): T', (value) => {
      const found = inner(value);
      if (found === undefined) throw new EvalError('optional.none() dereference');
      return found;
    }),
    declare('optional<T>.orValue(T): T', (value, other) => {
      const found = inner(value);
      return found === undefined ? other : found;
    }),
    declare('optional<T>.or(optional<T>): optional<T>', (value, other) => (inner(value) === undefined ? other : value)),
  ];
}

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === '') return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Uint8Array || value instanceof ListValue) return value.length === 0;
  if (typeof value === 'object' && 'size' in value) return value.size === 0;
  return typeof value === 'object' && 'nanos' in value && value.nanos === 0n;
}
