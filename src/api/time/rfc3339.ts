import { quoteShown } from '../errors/shown-value';

/**
 * The two times of the API: `Time` (whole seconds) and `MicroTime` (exactly six digits of fraction), both RFC 3339 in
 * UTC. Input may have any offset.
 */

/** Thrown for a text that is no time; the message is the one that Go clients know. */
export class TimeError extends Error {
  override readonly name = 'TimeError';
}

export interface Instant {
  /** Since the epoch; negative before it. */
  readonly seconds: number;
  /** 0 to 999,999,999. */
  readonly nanos: number;
}

const DIGITS = /[0-9]+/y;
const SECONDS_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICROS_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

/** 0001-01-01T00:00:00Z, which the API treats as "no time" and writes as null. */
export const ZERO_TIME_SECONDS = -62_135_596_800;
const FIRST_SECOND = -62_167_219_200; // 0000-01-01T00:00:00Z
const LAST_SECOND = 253_402_300_799; // 9999-12-31T23:59:59Z

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysIn(month: number, year: number): number {
  return month === 2 && isLeap(year) ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
}

/** Days from the epoch to the first of January of the year, by the proleptic Gregorian calendar. */
function daysBeforeYear(year: number): number {
  const past = year - 1;
  return (
    365 * (year - 1970) + (Math.floor(past / 4) - 492) - (Math.floor(past / 100) - 19) + (Math.floor(past / 400) - 4)
  );
}

function epochSeconds(year: number, month: number, day: number, hour: number, minute: number, second: number): number {
  let days = daysBeforeYear(year) + day - 1;
  for (let earlier = 1; earlier < month; earlier += 1) days += daysIn(earlier, year);
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

/** Walks over the text; what it cannot read it names as Go does: what is left, and what should stand there. */
class Scanner {
  private position = 0;

  constructor(
    private readonly text: string,
    private readonly layout: string,
  ) {}

  fail(expected: string): never {
    const rest = quoteShown(this.text.slice(this.position));
    throw new TimeError(
      `parsing time ${quoteShown(this.text)} as ${JSON.stringify(this.layout)}: cannot parse ${rest} as ${JSON.stringify(expected)}`,
    );
  }

  outOfRange(what: string): never {
    throw new TimeError(`parsing time ${quoteShown(this.text)}: ${what} out of range`);
  }

  private digit(): number | undefined {
    const code = this.text.charCodeAt(this.position) - 48;
    return code >= 0 && code <= 9 ? code : undefined;
  }

  /** Between `least` and `most` digits. */
  number(least: number, most: number, expected: string): number {
    const start = this.position;
    let value = 0;
    for (let digit = this.digit(); digit !== undefined && this.position - start < most; digit = this.digit()) {
      value = value * 10 + digit;
      this.position += 1;
    }
    if (this.position - start < least) {
      this.position = start;
      this.fail(expected);
    }
    return value;
  }

  literal(character: string): void {
    if (!this.accept(character)) this.fail(character);
  }

  accept(character: string): boolean {
    if (this.text[this.position] !== character) return false;
    this.position += 1;
    return true;
  }

  /** Nanoseconds of an optional fraction of any length. */
  optionalFraction(): number {
    const mark = this.text[this.position];
    if (mark !== '.' && mark !== ',') return 0;
    this.position += 1;
    if (this.digit() === undefined) {
      this.position -= 1;
      return 0;
    }
    DIGITS.lastIndex = this.position;
    const digits = DIGITS.exec(this.text)?.[0] ?? '';
    this.position += digits.length;
    return Number(digits.slice(0, 9).padEnd(9, '0'));
  }

  /** Nanoseconds of a fraction of exactly six digits. */
  microFraction(): number {
    const found = /^[.,]([0-9]{6})/.exec(this.text.slice(this.position, this.position + 7));
    if (found === null) return this.fail('.000000');
    this.position += 7;
    return Number(found[1]) * 1000;
  }

  offsetSeconds(): number {
    if (this.accept('Z')) return 0;
    const found = /^([+-])([0-9]{2}):([0-9]{2})/.exec(this.text.slice(this.position, this.position + 6));
    if (found === null) return this.fail('Z07:00');
    this.position += 6;
    const hours = Number(found[2]);
    const minutes = Number(found[3]);
    if (hours > 24) this.outOfRange('time zone offset hour');
    if (minutes > 60) this.outOfRange('time zone offset minute');
    return (found[1] === '-' ? -60 : 60) * (hours * 60 + minutes);
  }

  end(): void {
    const rest = this.text.slice(this.position);
    if (rest === '') return;
    throw new TimeError(`parsing time ${quoteShown(this.text)}: extra text: ${quoteShown(rest)}`);
  }
}

function parse(text: string, micro: boolean): Instant {
  const scanner = new Scanner(text, micro ? MICROS_LAYOUT : SECONDS_LAYOUT);
  const year = scanner.number(4, 4, '2006');
  scanner.literal('-');
  const month = scanner.number(2, 2, '01');
  if (month < 1 || month > 12) scanner.outOfRange('month');
  scanner.literal('-');
  const day = scanner.number(2, 2, '02');
  scanner.literal('T');
  const hour = scanner.number(1, 2, '15');
  if (hour > 23) scanner.outOfRange('hour');
  scanner.literal(':');
  const minute = scanner.number(2, 2, '04');
  if (minute > 59) scanner.outOfRange('minute');
  scanner.literal(':');
  const second = scanner.number(2, 2, '05');
  if (second > 59) scanner.outOfRange('second');
  const nanos = micro ? scanner.microFraction() : scanner.optionalFraction();
  const offset = scanner.offsetSeconds();
  scanner.end();
  if (day < 1 || day > daysIn(month, year)) scanner.outOfRange('day');
  const seconds = epochSeconds(year, month, day, hour, minute, second) - offset;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) scanner.outOfRange('year');
  return { seconds, nanos };
}

/** Reads a `Time`. Throws {@link TimeError}. */
export function parseTime(text: string): Instant {
  return parse(text, false);
}

/** Reads a `MicroTime`, which insists on six digits. Throws {@link TimeError}. */
export function parseMicroTime(text: string): Instant {
  return parse(text, true);
}

function dateAndTime(seconds: number): string {
  if (!(seconds >= FIRST_SECOND && seconds <= LAST_SECOND)) throw new TimeError(`time ${seconds} is out of range`);
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}

let lastSecond = Number.NaN;
let lastTime = '';

/**
 * `2020-01-02T03:04:05Z`; a fraction of the second is cut off. Throws {@link TimeError} outside of the years 0 to 9999. The
 * last answer is kept: servers ask for the current second again and again.
 */
export function formatTime(seconds: number): string {
  const second = Math.floor(seconds);
  if (second !== lastSecond) {
    lastTime = `${dateAndTime(second)}Z`;
    lastSecond = second;
  }
  return lastTime;
}

/** {@link formatTime} of a Date. */
export function formatDate(time: Date): string {
  return formatTime(time.getTime() / 1000);
}

/** `2020-01-02T03:04:05.000006Z`; what is finer than a microsecond is cut off. */
export function formatMicroTime({ seconds, nanos }: Instant): string {
  const micros = Math.trunc(nanos / 1000);
  return `${dateAndTime(seconds)}.${String(micros).padStart(6, '0')}Z`;
}

const CANONICAL_TIME =
  /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$/;

/** The text that the API answers with, or null for the zero time. Throws {@link TimeError}. */
export function canonicalTime(text: string): string | null {
  if (CANONICAL_TIME.test(text) && !text.startsWith('0001-01-01')) return text;
  const { seconds, nanos } = parseTime(text);
  return seconds === ZERO_TIME_SECONDS && nanos === 0 ? null : formatTime(seconds);
}

/** The text that the API answers with, or null for the zero time. Throws {@link TimeError}. */
export function canonicalMicroTime(text: string): string | null {
  const instant = parseMicroTime(text);
  return instant.seconds === ZERO_TIME_SECONDS && instant.nanos === 0 ? null : formatMicroTime(instant);
}
