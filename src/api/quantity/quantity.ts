/**
 * Quantities of resources ("500m", "1Gi", "12e6"): exact arithmetic and the canonical text that the API answers with.
 * A quantity is a whole number of nano units, which is the finest step the API keeps, so BigInt represents it exactly.
 */

/** How the text was written, and how results are written again: 12M, 12Mi or 12e6. */
export type QuantityFormat = 'decimalSI' | 'binarySI' | 'decimalExponent';

export interface Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

/** Thrown by {@link parseQuantity}; the message is the wire's. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX = "unable to parse quantity's suffix";
const WRONG_NUMBER = 'unable to parse numeric part of quantity';

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const DECIMAL_SUFFIX_OF: ReadonlyMap<number, string> = new Map(
  [...DECIMAL_SUFFIXES].map(([text, power]) => [power, text]),
);
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

const NANO = 1_000_000_000n;
const NANO_DIGITS = 9;
/** A quantity with a binary suffix is capped silently at the largest int64. */
const BINARY_MAX = ((1n << 63n) - 1n) * NANO;
/** Digits and powers of ten beyond this would only serve to keep the server busy: numbers grow with them. */
const MAX_EXPONENT = 1_000;
/** Texts of up to this many digits keep their spelling when it is canonical but for signs and dots ("+1", "5."). */
const MAX_KEPT_DIGITS = 18;

// The sign, the number, its fraction, and the suffix, which never begins with a digit: there is one way to read a text.
const PARTS = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?|[-+])[0-9]*)?$/;
const LEADING_ZEROS = /^0+/;

/** A text taken apart, before it becomes a number. */
interface Parts extends Suffix {
  readonly negative: boolean;
  /** Without leading zeros; `0` for none. */
  readonly whole: string;
  readonly fraction: string;
}

interface Suffix {
  readonly format: QuantityFormat;
  /** Of ten, or of two for binarySI. */
  readonly power: number;
}

function parseSuffix(text: string): Suffix {
  const decimal = DECIMAL_SUFFIXES.get(text);
  if (decimal !== undefined) return { format: 'decimalSI', power: decimal };
  const binary = BINARY_SUFFIXES.findIndex((suffix) => suffix === text);
  if (binary > 0) return { format: 'binarySI', power: binary * 10 };
  if (!/^[eE][-+]?[0-9]+$/.test(text)) throw new QuantityError(WRONG_SUFFIX);
  const power = Number(text.slice(1));
  if (Math.abs(power) > MAX_EXPONENT) throw new QuantityError(WRONG_SUFFIX);
  return { format: 'decimalExponent', power };
}

const powers: bigint[] = [];

/** Ten to the power. There are few thousand that can be asked for, and each is computed once. */
function powerOfTen(power: number): bigint {
  return (powers[power] ??= 10n ** BigInt(power));
}

/** The digits times ten to the power, in nano units; what is finer than a nano is rounded away from zero. */
function scaleToNanos(digits: bigint, power: number): bigint {
  const shift = power + NANO_DIGITS;
  if (shift >= 0) return digits * powerOfTen(shift);
  const divisor = powerOfTen(-shift);
  return (digits + divisor - 1n) / divisor;
}

/** Whether the API keeps the text as it was rather than writing its own. */
function isKept({ format, power, whole, fraction }: Parts): boolean {
  if (format === 'binarySI') {
    const digits = 15 - whole.length - Math.trunc((power * 3) / 10) - 1;
    return fraction === '' && digits >= 0 && (Number(whole) & 7) !== 0;
  }
  const shifted = whole + fraction;
  const scale = power - fraction.length;
  return (
    shifted.length <= MAX_KEPT_DIGITS &&
    scale >= -NANO_DIGITS &&
    scale % 3 === 0 &&
    !shifted.endsWith('000') &&
    !shifted.startsWith('0')
  );
}

function takeApart(text: string): Parts {
  if (text === '') throw new QuantityError(WRONG_FORMAT);
  const parts = PARTS.exec(text);
  if (parts === null) throw new QuantityError(WRONG_FORMAT);
  const [, sign = '', allDigits = '', fraction = '', suffixText = ''] = parts;
  const { format, power } = parseSuffix(suffixText);
  const digits = allDigits.replace(LEADING_ZEROS, '');
  const whole = digits === '' ? '0' : digits;
  if (whole.length + fraction.length > MAX_EXPONENT) throw new QuantityError(WRONG_NUMBER);
  return { negative: sign === '-', whole, fraction, format, power };
}

function quantityOf({ negative, whole, fraction, format, power }: Parts): Quantity {
  const unscaled = BigInt(whole + fraction);
  let nanos: bigint;
  let actualFormat = format;
  if (format === 'binarySI') {
    nanos = scaleToNanos(unscaled << BigInt(power), -fraction.length);
    if (nanos > BINARY_MAX) nanos = BINARY_MAX;
    if (nanos > 0n && nanos < NANO) actualFormat = 'decimalSI';
  } else {
    nanos = scaleToNanos(unscaled, power - fraction.length);
  }
  return { nanos: negative ? -nanos : nanos, format: actualFormat };
}

/** A quantity as kube-apiserver holds it: a number and its power of ten, and the text where that is kept as written. */
export interface SpelledQuantity {
  readonly value: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
  readonly kept: string;
}

/** Takes a text for what was written. Throws {@link QuantityError}. */
export function spellQuantity(text: string): SpelledQuantity {
  const parts = takeApart(text);
  const { negative, whole, fraction, format, power } = parts;
  const kept = text === '0' || isKept(parts) ? text : '';
  if (format === 'binarySI') return { value: quantityOf(parts).nanos / NANO, scale: 0, format, kept };
  const unscaled = BigInt(whole + fraction);
  return { value: negative ? -unscaled : unscaled, scale: power - fraction.length, format, kept };
}

/** Reads a quantity's text. Throws {@link QuantityError} with the wire's message. */
export function parseQuantity(text: string): Quantity {
  return quantityOf(takeApart(text));
}

function formatBinary(units: bigint): string {
  let mantissa = units;
  let step = 0;
  while (step < BINARY_SUFFIXES.length - 1 && mantissa % 1024n === 0n) {
    mantissa /= 1024n;
    step += 1;
  }
  return `${mantissa}${BINARY_SUFFIXES[step] ?? ''}`;
}

/**
 * The canonical text: no fraction, no precision lost, the largest suffix that allows it. Values that a binary suffix
 * cannot show exactly, or that are below 1024, are written with a decimal one.
 */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  if (format === 'binarySI' && nanos % NANO === 0n) {
    const units = nanos / NANO;
    if (units <= -1024n || units >= 1024n) return formatBinary(units);
  }
  return decimalText(String(nanos), -NANO_DIGITS, format);
}

/** Digits times ten to the power, which is a multiple of three, without zeros that the suffix can say. */
function decimalText(digits: string, power: number, format: QuantityFormat): string {
  let end = digits.length;
  let scale = power;
  while (digits.endsWith('000', end)) {
    end -= 3;
    scale += 3;
  }
  const mantissa = digits.slice(0, end);
  const suffix = format === 'decimalExponent' ? undefined : DECIMAL_SUFFIX_OF.get(scale);
  if (suffix !== undefined) return `${mantissa}${suffix}`;
  return scale === 0 ? mantissa : `${mantissa}e${scale}`;
}

// What nearly every manifest says ("100m", "2", "128Mi"): canonical as it stands, and much cheaper to recognise than
// to compute.
const PLAIN_DECIMAL = /^[1-9][0-9]{0,14}[mkMGTP]?$/;
const PLAIN_BINARY = /^[1-9][0-9]{0,3}[KMGT]i$/;

/** The text that the API answers with for this text. Throws {@link QuantityError}. */
export function canonicalQuantity(text: string): string {
  if (text === '0') return text;
  if (PLAIN_DECIMAL.test(text) && !/000[a-zA-Z]?$/.test(text)) return text;
  if (PLAIN_BINARY.test(text) && Number.parseInt(text, 10) % 1024 !== 0) return text;
  const parts = takeApart(text);
  if (isKept(parts)) return text;
  const { negative, whole, fraction, format, power } = parts;
  const scale = power - fraction.length;
  if (format === 'binarySI' || scale < -NANO_DIGITS) return formatQuantity(quantityOf(parts));
  // A large power is nothing but zeros: no number need be made of them.
  const digits = (whole + fraction).replace(LEADING_ZEROS, '');
  if (digits === '') return '0';
  const surplus = ((scale % 3) + 3) % 3;
  return decimalText(`${negative ? '-' : ''}${digits}${'0'.repeat(surplus)}`, scale - surplus, format);
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

/** The sum, in the format of the first; a zero takes the format of the other. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, negateQuantity(b));
}

export function negateQuantity(quantity: Quantity): Quantity {
  return { nanos: -quantity.nanos, format: quantity.format };
}

/** Rounded away from zero to whole units of ten to the power (-3: milli), as resource lists of pods are. */
export function roundUpQuantity({ nanos, format }: Quantity, power: number): Quantity {
  const unit = 10n ** BigInt(power + NANO_DIGITS);
  const rest = nanos % unit;
  if (rest === 0n) return { nanos, format };
  return { nanos: nanos - rest + (nanos < 0n ? -unit : unit), format };
}

/** Whole units, rounded away from zero. */
export function quantityValue(quantity: Quantity): bigint {
  return roundUpQuantity(quantity, 0).nanos / NANO;
}
