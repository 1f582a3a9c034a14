import fc from 'fast-check';
import { ageOf, humanDuration } from './age';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('durations for people', () => {
  test.each([
    [0, '0s'],
    [999, '0s'],
    [44 * SECOND, '44s'],
    [119 * SECOND, '119s'],
    [2 * MINUTE, '2m'],
    [3 * MINUTE + 20 * SECOND, '3m20s'],
    [9 * MINUTE + 59 * SECOND, '9m59s'],
    [10 * MINUTE + 5 * SECOND, '10m'],
    [179 * MINUTE, '179m'],
    [3 * HOUR, '3h'],
    [3 * HOUR + 2 * MINUTE, '3h2m'],
    [8 * HOUR + 2 * MINUTE, '8h'],
    [47 * HOUR, '47h'],
    [48 * HOUR, '2d'],
    [49 * HOUR, '2d1h'],
    [7 * DAY + 23 * HOUR, '7d23h'],
    [8 * DAY + HOUR, '8d'],
    [729 * DAY, '729d'],
    [730 * DAY, '2y'],
    [830 * DAY, '2y100d'],
    [8 * 365 * DAY + DAY, '8y'],
    [-SECOND, '0s'],
    [-2 * SECOND, '<invalid>'],
  ])('%d ms: %s', (milliseconds, text) => {
    expect(humanDuration(milliseconds)).toBe(text);
  });

  test('no duration takes more than seven characters within a century', () => {
    fc.assert(fc.property(fc.nat(100 * 365 * DAY), (milliseconds) => humanDuration(milliseconds).length <= 7));
  });

  test('the age of what has no time is unknown', () => {
    expect(ageOf(undefined, 0)).toBe('<unknown>');
    expect(ageOf(null, 0)).toBe('<unknown>');
    expect(ageOf('2024-01-01T00:00:00Z', Date.parse('2024-01-01T00:00:05Z'))).toBe('5s');
  });
});
