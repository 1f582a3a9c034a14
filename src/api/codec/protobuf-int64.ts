import type { Reader } from 'protobufjs/minimal';

/** The largest number below 2^63 that JavaScript can hold. */
const LARGEST_INT64 = 9_223_372_036_854_774_784;

/** Reads an int64. Beyond 2^53 it loses its last digits. */
export function readInt64(reader: Reader): number {
  const value = reader.int64();
  const number = typeof value === 'number' ? value : value.high * 2 ** 32 + (value.low >>> 0);
  return Math.max(-LARGEST_INT64, Math.min(LARGEST_INT64, number));
}

/** Reads an int64 with all its digits: a bigint where a number would lose some. */
export function readInt64Exactly(reader: Reader): number | bigint {
  const value = reader.int64();
  if (typeof value === 'number') return value;
  const number = value.high * 2 ** 32 + (value.low >>> 0);
  return Number.isSafeInteger(number) ? number : (BigInt(value.high) << 32n) + BigInt(value.low >>> 0);
}
