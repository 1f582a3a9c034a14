import { Uint } from './ast';
import { countWork } from './extra-work';
import {
  Duration,
  ListValue,
  MapValue,
  ObjectValue,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  type Value,
} from './values';

/**
 * `left == right`: false for values of different types, but for numbers, which are equal by value. Throws CostExceeded for structures
 * of more values than any object has.
 */
export function equals(left: Value, right: Value): boolean {
  countWork(1);
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right) === 0;
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (left instanceof ListValue) return right instanceof ListValue && equalLists(left, right);
  if (left instanceof MapValue) return right instanceof MapValue && equalMaps(left, right);
  if (left instanceof ObjectValue) return right instanceof ObjectValue && equalObjects(left, right);
  if (left instanceof Uint8Array) return right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  if (left instanceof Timestamp) return right instanceof Timestamp && left.nanos === right.nanos;
  if (left instanceof Duration) return right instanceof Duration && left.nanos === right.nanos;
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  if (left instanceof Optional) return right instanceof Optional && equalOptionals(left, right);
  if (left instanceof Opaque) {
    return right instanceof Opaque && left.typeName === right.typeName && left.equals(right);
  }
  return false;
}

function equalOptionals({ value: left }: Optional, { value: right }: Optional): boolean {
  return left === undefined || right === undefined ? left === right : equals(left, right);
}

function equalLists(left: ListValue, right: ListValue): boolean {
  const asType = left.equals(right);
  if (asType !== undefined) return asType;
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) {
    if (!equals(left.at(index), right.at(index))) return false;
  }
  return true;
}

function equalMaps(left: MapValue, right: MapValue): boolean {
  if (left.size !== right.size) return false;
  return left.keys().every((key) => {
    const other = right.get(key);
    return other !== undefined && equals(left.get(key) as Value, other);
  });
}

function equalObjects(left: ObjectValue, right: ObjectValue): boolean {
  if (left.typeName !== right.typeName) return false;
  const names = left.fields();
  if (names.length !== right.fields().length) return false;
  return names.every((name) => {
    const other = right.get(name);
    return other !== undefined && equals(left.get(name) as Value, other);
  });
}

export function isNumber(value: Value): value is bigint | number | Uint {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
}

/** Negative, zero or positive; NaN where one of the two is. */
export function compareNumbers(left: bigint | number | Uint, right: bigint | number | Uint): number {
  let one = left instanceof Uint ? left.value : left;
  let other = right instanceof Uint ? right.value : right;
  // As doubles, which the largest integers are rounded to.
  if (typeof one === 'number' && typeof other === 'bigint') other = Number(other);
  else if (typeof one === 'bigint' && typeof other === 'number') one = Number(one);
  return one < other ? -1 : one > other ? 1 : one === other ? 0 : NaN;
}

/** By code points, as UTF-8 is ordered, where UTF-16 puts what it writes in pairs before some that it does not. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const one = left.charCodeAt(index);
    const other = right.charCodeAt(index);
    if (one === other) continue;
    if (isPaired(one) !== isPaired(other)) return isPaired(one) ? 1 : -1;
    return one - other;
  }
  return left.length - right.length;
}

function isPaired(unit: number): boolean {
  return (unit & 0xf800) === 0xd800;
}

/** The order of two values of a type that has one; undefined: they have none. */
export function compareValues(left: Value, right: Value): number | undefined {
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right);
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  if (left instanceof Timestamp && right instanceof Timestamp) return compareNumbers(left.nanos, right.nanos);
  if (left instanceof Duration && right instanceof Duration) return compareNumbers(left.nanos, right.nanos);
  return undefined;
}
