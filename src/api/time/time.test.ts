import fc from 'fast-check';
import { formatDuration, parseDuration } from './duration';
import {
  ZERO_TIME_SECONDS,
  canonicalMicroTime,
  canonicalTime,
  formatMicroTime,
  formatTime,
  parseMicroTime,
  parseTime,
} from './rfc3339';

describe('Time', () => {
  test.each([
    ['2020-01-02T03:04:05Z', '2020-01-02T03:04:05Z'],
    ['2020-02-29T23:59:59.999999999Z', '2020-02-29T23:59:59Z'],
    ['2020-01-02T03:04:05+02:00', '2020-01-02T01:04:05Z'],
    ['2020-01-01T00:30:00-01:00', '2020-01-01T01:30:00Z'],
    ['0001-01-01T00:00:00Z', null],
    ['0001-01-01T01:00:00+01:00', null],
  ])('writes %s as %s', (text, expected) => {
    expect(canonicalTime(text)).toBe(expected);
  });

  const layout = '"2006-01-02T15:04:05Z07:00"';
  test.each([
    ['yesterday', `parsing time "yesterday" as ${layout}: cannot parse "yesterday" as "2006"`],
    ['', `parsing time "" as ${layout}: cannot parse "" as "2006"`],
    ['2020', `parsing time "2020" as ${layout}: cannot parse "" as "-"`],
    ['2020-01-02', `parsing time "2020-01-02" as ${layout}: cannot parse "" as "T"`],
    ['2020-01-02T03:04:05', `parsing time "2020-01-02T03:04:05" as ${layout}: cannot parse "" as "Z07:00"`],
    ['2020-13-02T03:04:05Z', 'parsing time "2020-13-02T03:04:05Z": month out of range'],
    ['2021-02-29T03:04:05Z', 'parsing time "2021-02-29T03:04:05Z": day out of range'],
    ['2020-01-02T24:04:05Z', 'parsing time "2020-01-02T24:04:05Z": hour out of range'],
    ['2020-01-02T03:04:05Zx', 'parsing time "2020-01-02T03:04:05Zx": extra text: "x"'],
  ])('refuses %j', (text, message) => {
    expect(() => canonicalTime(text)).toThrow(message);
  });

  test('printing and parsing again gives the same second', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }), (seconds) => {
        expect(parseTime(formatTime(seconds))).toEqual({ seconds, nanos: 0 });
      }),
    );
  });

  test('agrees with the calendar of the platform', () => {
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: new Date('0002-01-01'), max: new Date('9998-12-31') }),
        (date) => {
          expect(parseTime(date.toISOString()).seconds).toBe(Math.floor(date.getTime() / 1000));
        },
      ),
    );
    expect(new Date('0001-01-01T00:00:00Z').getTime() / 1000).toBe(ZERO_TIME_SECONDS);
  });
});

describe('MicroTime', () => {
  test('keeps six digits', () => {
    expect(canonicalMicroTime('2020-01-02T03:04:05.120000Z')).toBe('2020-01-02T03:04:05.120000Z');
    expect(canonicalMicroTime('2020-01-02T03:04:05.123456+02:00')).toBe('2020-01-02T01:04:05.123456Z');
    expect(formatMicroTime({ seconds: 0, nanos: 1_999 })).toBe('1970-01-01T00:00:00.000001Z');
    expect(parseMicroTime('1970-01-01T00:00:00.000001Z')).toEqual({ seconds: 0, nanos: 1_000 });
  });

  test.each([
    ['2020-01-02T03:04:05.123Z', 'cannot parse ".123Z" as ".000000"'],
    ['2020-01-02T03:04:05Z', 'cannot parse "Z" as ".000000"'],
    ['2020-01-02T03:04:05.1234567Z', 'cannot parse "7Z" as "Z07:00"'],
    ['now', 'as "2006-01-02T15:04:05.000000Z07:00": cannot parse "now" as "2006"'],
  ])('refuses %s', (text, message) => {
    expect(() => canonicalMicroTime(text)).toThrow(message);
  });
});

describe('durations', () => {
  it('have a thousand characters at most', () => {
    expect(parseDuration('1s'.repeat(500))).toBe(500_000_000_000n);
    expect(() => parseDuration('1s'.repeat(501))).toThrow('time: invalid duration "1s1s');
  });

  test.each([
    ['0', '0s'],
    ['1h', '1h0m0s'],
    ['90m', '1h30m0s'],
    ['1.5s', '1.5s'],
    ['100ms', '100ms'],
    ['1us', '1µs'],
    ['15ns', '15ns'],
    ['-1h15m30.918s', '-1h15m30.918s'],
    ['.5m', '30s'],
    ['-9223372036854775808ns', '-2562047h47m16.854775808s'],
  ])('writes %s as %s', (text, expected) => {
    expect(formatDuration(parseDuration(text))).toBe(expected);
  });

  test.each([
    ['', 'time: invalid duration ""'],
    ['x', 'time: invalid duration "x"'],
    ['.s', 'time: invalid duration ".s"'],
    ['5', 'time: missing unit in duration "5"'],
    ['5x', 'time: unknown unit "x" in duration "5x"'],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
  ])('refuses %j', (text, message) => {
    expect(() => parseDuration(text)).toThrow(message);
  });

  test('printing and parsing again gives the same length', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (nanos) => {
        expect(parseDuration(formatDuration(nanos))).toBe(nanos);
      }),
    );
  });
});
