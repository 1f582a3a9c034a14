import { parseRequestInfo } from '../http/request/request-info';
import type { RequestContext } from '../http/request/context';
import { healthRoutes } from '../http/routes/health-routes';
import { silentLogger } from '../observability/logger';
import { healthChecks } from './health-checks';
import { once, START_PHASES, StartPhases } from './start-phases';

describe('the health checks', () => {
  let phases: StartPhases;
  let now = 0;
  let isStopping = false;
  let logFailure: Error | undefined;
  let probe: (url: string) => Promise<string>;

  beforeEach(() => {
    phases = new StartPhases();
    now = 0;
    isStopping = false;
    logFailure = undefined;
    const checks = healthChecks({
      store: { health: async () => undefined, space: async () => [] },
      phases,
      livezGraceMs: 1_000,
      isStopping: () => isStopping,
      checkLog: () => {
        if (logFailure !== undefined) throw logFailure;
      },
      clock: () => now,
    });
    const routes = healthRoutes(checks, silentLogger);
    probe = async (url) => {
      const info = parseRequestInfo('GET', url);
      const response = await routes.find(({ path }) => path === info.path)!.handler({ info } as RequestContext);
      return (response as unknown as { readonly body: string }).body;
    };
  });

  const failing = async (endpoint: string): Promise<readonly string[]> => {
    const lines = (await probe(`/${endpoint}?verbose`)).split('\n');
    return lines.flatMap((line) => /^\[-\](\S+)/.exec(line)?.[1] ?? []);
  };

  it('name every phase of the start as kube-apiserver does, and in its order', async () => {
    for (const phase of START_PHASES) phases.finish(phase);
    const names = (await probe('/healthz?verbose')).split('\n').map((line) => line.replace(/^\[\+\](\S+) ok$/, '$1'));
    expect(names).toEqual([
      'ping',
      'log',
      'etcd',
      'poststarthook/start-kube-apiserver-admission-initializer',
      'poststarthook/generic-apiserver-start-informers',
      'poststarthook/priority-and-fairness-config-consumer',
      'poststarthook/priority-and-fairness-filter',
      'poststarthook/start-apiextensions-informers',
      'poststarthook/start-apiextensions-controllers',
      'poststarthook/crd-informer-synced',
      'poststarthook/bootstrap-controller',
      'poststarthook/rbac/bootstrap-roles',
      'poststarthook/scheduling/bootstrap-system-priority-classes',
      'poststarthook/priority-and-fairness-config-producer',
      'poststarthook/start-cluster-authentication-info-controller',
      'poststarthook/start-kube-aggregator-informers',
      'poststarthook/apiservice-registration-controller',
      'poststarthook/apiservice-status-available-controller',
      'poststarthook/kube-apiserver-autoregistration',
      'autoregister-completion',
      'poststarthook/apiservice-openapi-controller',
      'healthz check passed',
      '',
    ]);
    const readiness = (await probe('/readyz?verbose')).split('\n');
    expect(readiness.slice(3, 5)).toEqual(['[+]storage-space ok', '[+]informer-sync ok']);
    expect(readiness.at(-3)).toBe('[+]shutdown ok');
  });

  it.each(START_PHASES)(
    'fail at all endpoints as long as %s is not finished, and only that check does',
    async (one) => {
      for (const phase of START_PHASES) if (phase !== one) phases.finish(phase);
      now = 1_000;
      expect(await failing('healthz')).toEqual([one]);
      expect(await failing('livez')).toEqual([one]);
      expect((await failing('readyz')).filter((name) => name !== 'informer-sync')).toEqual([one]);
      phases.finish(one);
      expect(await failing('readyz')).toEqual([]);
    },
  );

  it('take an unfinished start as alive during the grace period, not as ready or healthy', async () => {
    now = 999;
    await expect(probe('/livez')).resolves.toBe('ok');
    expect(await failing('readyz')).toContain('informer-sync');
    expect(await failing('healthz')).toHaveLength(START_PHASES.length);
  });

  it('fail when the log cannot be written, and when the server ends', async () => {
    for (const phase of START_PHASES) phases.finish(phase);
    logFailure = new Error('no space left on device');
    for (const endpoint of ['healthz', 'livez', 'readyz']) expect(await failing(endpoint)).toEqual(['log']);
    logFailure = undefined;
    isStopping = true;
    expect(await failing('readyz')).toEqual(['shutdown']);
    await expect(probe('/livez')).resolves.toBe('ok');
  });

  it('fail again when what a phase has brought about is lost, unless once is enough', async () => {
    for (const phase of START_PHASES) phases.finish(phase);
    let isFollowing = true;
    phases.finish('poststarthook/start-apiextensions-informers', () => isFollowing);
    phases.finish(
      'poststarthook/bootstrap-controller',
      once(() => isFollowing),
    );
    expect(await failing('readyz')).toEqual([]);
    isFollowing = false;
    expect(await failing('readyz')).toEqual(['informer-sync', 'poststarthook/start-apiextensions-informers']);
  });
});
