import { Verbosity } from './verbosity';

describe('how much is logged', () => {
  it.each([
    [0, 'info', false],
    [2, 'info', false],
    [3, 'info', true],
    [4, 'debug', true],
    [6, 'trace', true],
  ] as const)('at -v=%d is %s, requests: %s', (v, level, requests) => {
    const logger = { level: 'info' };
    expect(new Verbosity(logger, v, false).logsRequests).toBe(requests);
    expect(logger.level).toBe(level);
  });

  it('goes back to what it was', () => {
    const logger = { level: 'warn' };
    const verbosity = new Verbosity(logger, 0, false);
    verbosity.set(3);
    expect([logger.level, verbosity.logsRequests]).toEqual(['info', true]);
    verbosity.set(0);
    expect([logger.level, verbosity.logsRequests]).toEqual(['warn', false]);
  });

  it('always has requests where that is wanted', () => {
    expect(new Verbosity({ level: 'info' }, 0, true).logsRequests).toBe(true);
  });
});
