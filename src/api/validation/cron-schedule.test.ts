import { cronScheduleProblem, cronScheduleSteps } from './cron-schedule';

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

describe('long schedules', () => {
  const stepsOf = (schedule: string): readonly [steps: number, problem: string | undefined] => {
    const steps = cronScheduleSteps(schedule);
    for (let count = 0; ; count += 1) {
      const { done, value } = steps.next();
      if (done) return [count, value];
    }
  };

  test.each([
    ['ranges', `${'1,'.repeat(100_000)}99 * * * *`, 'End of range (99) above maximum (59): 99'],
    ['fields', '* '.repeat(100_000), 'Expected exactly 5 fields, found 100000: * *'],
  ])('of many %s are read in steps', (_, schedule, problem) => {
    const [steps, found] = stepsOf(schedule);
    expect(steps).toBeGreaterThan(400);
    expect(found?.slice(0, problem.length)).toBe(problem);
  });

  test.each([
    ['/'.repeat(100_000), 'Failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    [`1${'-1'.repeat(100_000)}`, `Too many hyphens: 1${'-1'.repeat(10)}`],
    ['x'.repeat(100_000), `Failed to parse int from ${'x'.repeat(10)}`],
  ])('are shown by their beginning', (field, problem) => {
    const found = cronScheduleProblem(`${field} * * * *`) ?? '';
    expect(found.slice(0, problem.length)).toBe(problem);
    expect(found.length).toBeLessThan(80_000);
  });
});
