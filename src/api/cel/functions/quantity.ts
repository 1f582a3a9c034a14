import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  quantityValue,
  QuantityError,
  subtractQuantities,
  type Quantity as Parsed,
} from '../../quantity/quantity';
import { MAX_INT64, MIN_INT64 } from '../../codec/exact-json';
import { declare, OF_TEXT, type Overload } from '../declarations';
import { EvalError, Opaque, type Value } from '../values';

class Quantity extends Opaque {
  readonly typeName = 'kubernetes.Quantity';

  constructor(readonly parsed: Parsed) {
    super();
  }

  equals(other: Opaque): boolean {
    return other instanceof Quantity && compareQuantities(this.parsed, other.parsed) === 0;
  }
}

const NANO = 1_000_000_000n;

/** Kubernetes' library of quantities. */
export function quantityFunctions(): readonly Overload[] {
  const of = (value: Value | undefined): Parsed => (value as Quantity).parsed;
  const ofInteger = (value: Value | undefined): Parsed => ({ nanos: (value as bigint) * NANO, format: 'decimalSI' });
  const compare = (left: Value | undefined, right: Value | undefined): number => compareQuantities(of(left), of(right));
  const isInteger = (value: Value | undefined): boolean => {
    const { nanos } = of(value);
    return nanos % NANO === 0n && nanos / NANO >= MIN_INT64 && nanos / NANO <= MAX_INT64;
  };
  return [
    declare('quantity(string): kubernetes.Quantity', (text) => new Quantity(parse(text as string)), OF_TEXT),
    declare('isQuantity(string): bool', (text) => isQuantity(text as string), OF_TEXT),
    declare('kubernetes.Quantity.sign(): int', (value) => BigInt(Math.sign(Number(of(value).nanos)))),
    declare('kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool', (left, right) => compare(left, right) > 0),
    declare('kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool', (left, right) => compare(left, right) < 0),
    declare('kubernetes.Quantity.compareTo(kubernetes.Quantity): int', (left, right) => BigInt(compare(left, right))),
    declare('kubernetes.Quantity.asInteger(): int', (value) => {
      if (!isInteger(value)) throw new EvalError('cannot convert value to integer');
      return quantityValue(of(value));
    }),
    declare('kubernetes.Quantity.isInteger(): bool', isInteger),
    declare('kubernetes.Quantity.asApproximateFloat(): double', (value) => Number(of(value).nanos) / 1e9),
    declare(
      'kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity',
      (left, right) => new Quantity(addQuantities(of(left), of(right))),
    ),
    declare(
      'kubernetes.Quantity.add(int): kubernetes.Quantity',
      (left, right) => new Quantity(addQuantities(of(left), ofInteger(right))),
    ),
    declare(
      'kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity',
      (left, right) => new Quantity(subtractQuantities(of(left), of(right))),
    ),
    declare(
      'kubernetes.Quantity.sub(int): kubernetes.Quantity',
      (left, right) => new Quantity(subtractQuantities(of(left), ofInteger(right))),
    ),
  ];
}

function parse(text: string): Parsed {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) throw new EvalError(error.message);
    throw error;
  }
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}
