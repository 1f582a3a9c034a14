import { Duration, EvalError, Timestamp } from '../values';

const SECOND = 1_000_000_000n;
/** 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z. */
const FIRST = -62_135_596_800n * SECOND;
const LAST = 253_402_300_800n * SECOND - 1n;
const LONGEST = 2n ** 63n - 1n;

export function checkTimestamp(nanos: bigint): Timestamp {
  if (nanos < FIRST || nanos > LAST) throw new EvalError('timestamp overflow');
  return new Timestamp(nanos);
}

export function checkDuration(nanos: bigint): Duration {
  if (nanos < -LONGEST - 1n || nanos > LONGEST) throw new EvalError('duration overflow');
  return new Duration(nanos);
}
