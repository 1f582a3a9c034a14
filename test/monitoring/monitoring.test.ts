import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { startApiServer, type ApiServer } from '../../src';
import { adminClient } from '../support/admin-client';
import { until } from '../support/until';
import { hasPrometheus, Prometheus, promtool } from './prometheus';
import { STOCK_QUERIES } from './stock-queries';

const FOLDER = resolve(__dirname, '../../deploy/monitoring');
const RULES = join(FOLDER, 'rules.yaml');
/** kube-apiserver's names, which dashboards know as they are. */
const STOCK_NAMES = [
  'authenticated_user_requests counter metrics should have "_total" suffix',
  'authentication_attempts counter metrics should have "_total" suffix',
];
/** There is data only where such requests came to pass. */
const RARE =
  /_errors_total|rejected_requests_total|apiserver_flowcontrol_|_read_wait_|retries_total|request_terminations/;

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

function dashboardQueries(): readonly string[] {
  const { panels } = JSON.parse(readFileSync(join(FOLDER, 'dashboard.json'), 'utf8')) as Dashboard;
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll('$job', 'apiserver')));
}

function textOf({ url, token, certificateAuthority }: ApiServer, path: string): Promise<string> {
  return new Promise((done, fail) => {
    const options = { ca: certificateAuthority, headers: { Authorization: `Bearer ${token}` } };
    const asked = get(new URL(path, url), options, (response) => void text(response).then(done, fail));
    asked.on('error', fail);
  });
}

const describeMonitoring = hasPrometheus ? describe : describe.skip;

describeMonitoring('the alert rules', () => {
  it('fire at what they are for, and at nothing else', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sternpost-rules-'));
    try {
      copyFileSync(RULES, join(folder, 'rules.yaml'));
      copyFileSync(join(__dirname, 'rules.test.yaml'), join(folder, 'rules.test.yaml'));
      const { code, output } = await promtool(['test', 'rules', join(folder, 'rules.test.yaml')]);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('SUCCESS') });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('are all tested', () => {
    const names = (source: string, pattern: RegExp): readonly string[] =>
      [...new Set(Array.from(source.matchAll(pattern), ([, name = '']) => name))].sort();
    const tested = names(readFileSync(join(__dirname, 'rules.test.yaml'), 'utf8'), /^ {8}alertname: (\w+)$/gm);
    expect(tested).toEqual(names(readFileSync(RULES, 'utf8'), /- alert: (\w+)/g));
  });
});

describeMonitoring('a scraped server', () => {
  let server: ApiServer;
  let prometheus: Prometheus;
  let metrics: string;

  beforeAll(async () => {
    // By the rights that a Prometheus has in a cluster, not by an administrator's.
    server = await startApiServer({ users: { prometheus: ['system:monitoring'] } });
    const { url, certificateAuthority, users } = server;
    prometheus = await Prometheus.start({ url, certificateAuthority, token: users['prometheus']?.token ?? '' });
    const client = adminClient(server);
    for (let round = 0; round < 4; round++) {
      const path = '/api/v1/namespaces/default/configmaps';
      const name = `round-${round}`;
      await client.create(path, { metadata: { name } });
      await client.patch(`${path}/${name}`, 'merge', { data: { a: 'b' } });
      await client.update(`${path}/${name}`, { metadata: { name }, data: { a: 'c' } });
      await client.get(`${path}/${name}`);
      await client.get(path);
      await client.get('/api/v1/configmaps');
      await client.create('/api/v1/namespaces', { metadata: { name } });
      await client.delete(`${path}/${name}`);
      await client.delete(`/api/v1/namespaces/${name}`);
      await delay(1_200);
    }
    client.close();
    // A rate is that between two scrapes.
    await until(
      () => prometheus.series('min(count_over_time(workqueue_depth{job="apiserver"}[1m])) >= 3'),
      (series) => series > 0,
    );
    metrics = await textOf(server, '/metrics');
  }, 60_000);

  afterAll(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    await server?.stop();
  });

  it('lets whoever monitors read all of its metrics', async () => {
    expect(await prometheus.series('max_over_time(up{job="apiserver"}[1m]) == 1')).toBe(2);
  });

  it('has metrics that promtool finds nothing wrong with', async () => {
    const { output } = await promtool(['check', 'metrics'], metrics);
    expect(
      output
        .split('\n')
        .filter((line) => line !== '')
        .sort(),
    ).toEqual(STOCK_NAMES);
  });

  it.each(STOCK_QUERIES)('answers %s', async (query) => {
    expect(await prometheus.series(query)).toBeGreaterThan(0);
  });

  it.each(dashboardQueries())('answers its own dashboard: %s', async (query) => {
    // A query that Prometheus does not understand rejects.
    const series = await prometheus.series(query);
    if (!RARE.test(query)) expect(series).toBeGreaterThan(0);
  });
});
