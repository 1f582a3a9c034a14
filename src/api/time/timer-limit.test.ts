import { LONGEST_TIMER_MS, timerMs } from './timer-limit';

it('keeps what a timer can wait, and the longest that it can for all beyond', () => {
  expect([0, 60_000, LONGEST_TIMER_MS].map(timerMs)).toEqual([0, 60_000, LONGEST_TIMER_MS]);
  expect([LONGEST_TIMER_MS + 1, 1e22, Infinity].map(timerMs)).toEqual(Array(3).fill(LONGEST_TIMER_MS));
});
