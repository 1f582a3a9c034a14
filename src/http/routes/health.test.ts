import { printReport, runChecks, type HealthCheck } from './health';

const good: HealthCheck = { name: 'ping', check: async () => undefined };
const bad: HealthCheck = {
  name: 'etcd',
  check: async () => {
    throw new Error('secret cause');
  },
};

describe('a health endpoint', () => {
  it('says ok in two letters when every check passes', async () => {
    expect(printReport('readyz', await runChecks([good], []), false)).toBe('ok');
  });

  it('lists the checks when asked', async () => {
    expect(printReport('livez', await runChecks([good, bad], ['etcd']), true)).toBe(
      '[+]ping ok\n[+]etcd excluded: ok\nlivez check passed\n',
    );
  });

  it('lists the checks when one fails, without its cause', async () => {
    const report = await runChecks([good, bad], []);
    expect(report.healthy).toBe(false);
    expect(report.failures).toEqual([{ name: 'etcd', error: new Error('secret cause') }]);
    expect(printReport('readyz', report, false)).toBe(
      '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n',
    );
  });

  it('tells which excluded names match no check', async () => {
    const report = await runChecks([good], ['zebra', 'ape']);
    expect(report.lines.at(-1)).toBe('warn: some health checks cannot be excluded: no matches for "ape", "zebra"');
    expect(report.healthy).toBe(true);
  });
});
