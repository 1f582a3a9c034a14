import { cronScheduleProblem } from './cron-schedule';

describe('cron schedules', () => {
  test.each([
    '* * * * *',
    '*/5 * * * *',
    '0 0 1 jan mon-fri',
    '5/10 1-3 ? * 0,6',
    '0-59/2 23 31 12 SAT',
    '@hourly',
    '@every 1h30m',
  ])('%s is one', (schedule) => {
    expect(cronScheduleProblem(schedule)).toBeUndefined();
  });

  test.each([
    ['x', 'Expected exactly 5 fields, found 1: x'],
    ['TZ=UTC 0 0 * * *', 'Expected exactly 5 fields, found 6: TZ=UTC 0 0 * * *'],
    ['60 * * * *', 'End of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'Beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'Beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'Step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'Too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'Too many slashes: 1/2/3'],
    ['a * * * *', 'Failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ['@sometimes', 'Unrecognized descriptor: @sometimes'],
    ['@every day', 'Failed to parse duration @every day: time: invalid duration "day"'],
  ])('%s is none, and the sentence says why', (schedule, problem) => {
    expect(cronScheduleProblem(schedule)).toBe(problem);
  });
});
