import { quoteShown } from '../errors/shown-value';

/** Durations as the API writes them: "1h0m0s", "1.5s", "100ms"; counted in nanoseconds, as an int64. */

/** Thrown for a text that is no duration; the message is the one that Go clients know. */
export class DurationError extends Error {
  override readonly name = 'DurationError';
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const MAX_NANOS = (1n << 63n) - 1n;
const SECOND = 1_000_000_000n;

/** A text may say `1s` a million times, and each takes its time. */
const MAX_LENGTH = 1_000;

const PART = /([0-9]*)(\.?)([0-9]*)([^0-9.]*)/y;

/** Nanoseconds of "-1h15m30.918s"; a bare "0" needs no unit. Throws {@link DurationError}. */
export function parseDuration(text: string): bigint {
  const invalid = (): DurationError => new DurationError(`time: invalid duration ${quoteShown(text)}`);
  const negative = text.startsWith('-');
  const start = negative || text.startsWith('+') ? 1 : 0;
  if (text.slice(start) === '0') return 0n;
  if (start === text.length || text.length > MAX_LENGTH) throw invalid();
  let total = 0n;
  PART.lastIndex = start;
  while (PART.lastIndex < text.length) {
    const [, whole = '', , fraction = '', unitName = ''] = PART.exec(text) ?? [];
    if (whole === '' && fraction === '') throw invalid();
    if (unitName === '') throw new DurationError(`time: missing unit in duration ${quoteShown(text)}`);
    const unit = UNITS.get(unitName);
    if (unit === undefined) {
      throw new DurationError(`time: unknown unit ${quoteShown(unitName)} in duration ${quoteShown(text)}`);
    }
    if (whole.length > 20) throw invalid();
    // Eighteen digits are finer than a nanosecond for every unit.
    const kept = fraction.slice(0, 18);
    total += BigInt(whole) * unit + (BigInt(kept) * unit) / 10n ** BigInt(kept.length);
    if (total > MAX_NANOS + (negative ? 1n : 0n)) throw invalid();
  }
  return negative ? -total : total;
}

/** Value in units of `10 ** digits` nanoseconds, without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  const rest = value % unit;
  const whole = String(value / unit);
  return rest === 0n ? whole : `${whole}.${String(rest).padStart(digits, '0').replace(/0+$/, '')}`;
}

/** "1h0m0s", "1.5s", "2ms", "0s". */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}µs`;
  if (size < SECOND) return `${sign}${decimal(size, 6)}ms`;
  const minutes = size / (60n * SECOND);
  const seconds = `${decimal(size % (60n * SECOND), 9)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  const hours = minutes / 60n;
  return hours === 0n ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60n}m${seconds}`;
}
