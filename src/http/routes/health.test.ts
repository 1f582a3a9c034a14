import type { Logger } from '../../observability/logger';
import type { RequestContext } from '../request/context';
import type { ApiResponse } from '../response/api-response';
import { parseRequestInfo } from '../request/request-info';
import { printReport, runChecks, type HealthCheck } from './health';
import { healthRoutes } from './health-routes';
import { sharedCheck } from './shared-check';

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

describe('a check that asks somebody else', () => {
  let now = 1000;
  const responses: { resolve: () => void; reject: (error: Error) => void; signal: AbortSignal }[] = [];
  const check = sharedCheck(
    (signal) => new Promise((resolve, reject) => responses.push({ resolve, reject, signal })),
    () => now,
  );

  it('asks once for all probes that come at a time, and for those soon after', async () => {
    const probes = [check(), check()];
    now += 249;
    probes.push(check());
    expect(responses).toHaveLength(1);
    responses[0]?.resolve();
    await expect(Promise.all(probes.map(async (probe) => probe))).resolves.toHaveLength(3);
    expect(check()).toBeUndefined();
    expect(responses).toHaveLength(1);
  });

  it('asks again for a probe that comes later, and tells it of a failure', async () => {
    now += 1;
    const probe = check();
    expect(responses).toHaveLength(2);
    responses[1]?.reject(new Error('etcd is gone'));
    await expect(probe).rejects.toThrow('etcd is gone');
    expect(() => check()).toThrow('etcd is gone');
  });

  it('does not make a later probe wait for an answer that does not come', async () => {
    now += 250;
    void Promise.resolve(check()).catch(() => undefined);
    now += 250;
    const probe = check();
    expect(responses).toHaveLength(4);
    responses[3]?.resolve();
    await expect(probe).resolves.toBeUndefined();
    responses[2]?.reject(new Error('late'));
  });
});

describe('the endpoint of health checks', () => {
  const told: string[] = [];
  const logger = { info: (_details: object, message: string) => told.push(message) } as unknown as Logger;
  let failure: Error | undefined;
  let asked = 0;
  const etcd: HealthCheck = {
    name: 'etcd',
    check: () => {
      asked++;
      if (failure !== undefined) throw failure;
    },
  };
  const routes = healthRoutes({ livez: [], readyz: [good, etcd], healthz: [] }, logger);
  const probe = async (url: string): Promise<ApiResponse | undefined> => {
    const info = parseRequestInfo('GET', url);
    const ofPath =
      routes.find(({ path }) => path === info.path) ??
      routes.find(({ path, prefix }) => prefix && info.path.startsWith(path));
    return ofPath!.handler({ info } as RequestContext);
  };

  it('answers as a whole, check by check, with all that it found and without what is excluded', async () => {
    expect(await probe('/readyz')).toMatchObject({ code: 200, body: 'ok' });
    expect(await probe('/readyz/etcd')).toMatchObject({ code: 200, body: 'ok' });
    failure = new Error('secret');
    const body = '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n';
    expect(await probe('/readyz')).toMatchObject({ code: 500, body });
    expect(await probe('/readyz/etcd')).toMatchObject({
      code: 500,
      body: 'internal server error: etcd failed: reason withheld\n',
    });
    expect(await probe('/readyz/nothing')).toBeUndefined();
    asked = 0;
    expect(await probe('/readyz?exclude=etcd')).toMatchObject({ code: 200, body: 'ok' });
    expect(asked).toBe(0);
    expect(await probe('/readyz?verbose&exclude=etcd')).toMatchObject({
      body: '[+]ping ok\n[+]etcd excluded: ok\nreadyz check passed\n',
    });
  });

  it('tells in its own words why a single check fails, where these give nothing away', async () => {
    const check = (): void => {
      throw new Error('process is shutting down');
    };
    const shutdown = { name: 'shutdown', isPublic: true, check };
    const [, single] = healthRoutes({ livez: [], readyz: [shutdown], healthz: [] }, logger).filter(({ path }) =>
      path.startsWith('/readyz'),
    );
    const info = parseRequestInfo('GET', '/readyz/shutdown');
    expect(await single!.handler({ info } as RequestContext)).toMatchObject({
      code: 500,
      body: 'internal server error: process is shutting down\n',
    });
  });

  it('writes down a failure once, however often it is probed', async () => {
    told.length = 0;
    jest.spyOn(performance, 'now').mockReturnValue(1e9);
    for (let index = 0; index < 10; index++) await probe('/readyz');
    jest.restoreAllMocks();
    expect(told).toEqual(['readyz check failed']);
  });
});
