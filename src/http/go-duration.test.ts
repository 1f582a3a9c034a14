import { formatGoDuration, parseGoDuration } from './go-duration';

it.each([
  ['5s', 5000],
  ['1h2m', 3_720_000],
  ['1.5s', 1500],
  ['.5s', 500],
  ['-1s', -1000],
  ['0', 0],
  ['300ms', 300],
  ['', undefined],
  ['5', undefined],
  ['bogus', undefined],
  ['1s2', undefined],
])('reads %s as %s', (text, milliseconds) => {
  expect(parseGoDuration(text)).toBe(milliseconds);
});

it.each([
  [34_000, '34s'],
  [60_000, '1m0s'],
  [3_600_000, '1h0m0s'],
  [500, '500ms'],
  [1500, '1.5s'],
])('writes %d as %s', (milliseconds, text) => {
  expect(formatGoDuration(milliseconds)).toBe(text);
});
