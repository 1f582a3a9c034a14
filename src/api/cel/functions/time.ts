import { LRUCache } from 'lru-cache';
import { parseDuration } from '../../time/duration';
import { declare, type Overload } from '../declarations';
import type { Duration, Timestamp } from '../values';
import { EvalError, type Value } from '../values';
import { checkDuration, checkTimestamp } from './time-limits';

const SECOND = 1_000_000_000n;
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)$/;

/** Throws an EvalError for what is no time of RFC 3339. */
export function timestampOf(text: string): Timestamp {
  const match = RFC3339.exec(text);
  if (match === null) throw new EvalError(`cannot parse timestamp: ${JSON.stringify(text)}`);
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match;
  const utc = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const millis = Date.parse(utc);
  const isReal = !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(utc.slice(0, 19));
  if (!isReal) throw new EvalError(`cannot parse timestamp: ${JSON.stringify(text)}`);
  const nanos = BigInt(millis) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  return checkTimestamp(nanos - BigInt(offsetOf(zone)) * 60n * SECOND);
}

/** Minutes, of `+02:00` or `02:00`. */
function offsetOf(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  const [hours = '0', minutes = '0'] = zone.replace(/^[+-]/, '').split(':');
  return sign * (Number(hours) * 60 + Number(minutes));
}

export function durationOf(text: string): Duration {
  try {
    return checkDuration(parseDuration(text));
  } catch (error) {
    if (error instanceof EvalError) throw error;
    throw new EvalError(`time: invalid duration ${JSON.stringify(text)}`);
  }
}

export function formatTimestamp({ nanos }: Timestamp): string {
  const seconds = floorDivide(nanos, SECOND);
  const fraction = nanos - seconds * SECOND;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${text}${fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`}Z`;
}

/** Seconds with what follows the point: `90s`, `1.5s`. */
export function formatDurationValue({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = String(size % SECOND)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${nanos < 0n ? '-' : ''}${size / SECOND}${fraction === '' ? '' : `.${fraction}`}s`;
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

type Part = (date: Date, nanos: bigint) => number;

const DAY_MS = 86_400_000;
const dayOfYear: Part = (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS);

const PARTS: Readonly<Record<string, Part>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

const UNITS: Readonly<Record<string, bigint>> = {
  getHours: 3600n * SECOND,
  getMinutes: 60n * SECOND,
  getSeconds: SECOND,
};

/** A formatter takes some tens of microseconds to make. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 50 });

/** The date as a clock in the zone shows it, its fields those of UTC. */
function inZone(date: Date, zone: string): Date {
  if (/^[+-]?\d\d:\d\d$/.test(zone)) return new Date(date.getTime() + offsetOf(zone) * 60_000);
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    try {
      formatter = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      });
    } catch {
      throw new EvalError(`unknown time zone ${zone}`);
    }
    formatters.set(zone, formatter);
  }
  const parts = new Map(formatter.formatToParts(date).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return new Date(shown + (((date.getTime() % 1000) + 1000) % 1000));
}

function partOf(value: Value | undefined, part: Part, zone: string | undefined): bigint {
  const { nanos } = value as Timestamp;
  const date = new Date(Number(floorDivide(nanos, 1_000_000n)));
  return BigInt(part(zone === undefined || zone === '' ? date : inZone(date, zone), nanos));
}

export function timeFunctions(): readonly Overload[] {
  return [
    ...Object.entries(PARTS).flatMap(([name, part]) => [
      declare(`timestamp.${name}(): int`, (value) => partOf(value, part, undefined)),
      declare(`timestamp.${name}(string): int`, (value, zone) => partOf(value, part, zone as string)),
    ]),
    ...Object.entries(UNITS).map(([name, unit]) =>
      declare(`duration.${name}(): int`, (value) => (value as Duration).nanos / unit),
    ),
    declare('duration.getMilliseconds(): int', (value) => ((value as Duration).nanos / 1_000_000n) % 1000n),
  ];
}
