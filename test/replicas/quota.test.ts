import { ApiClient } from '../../src/client/api-client';
import type { Controller } from '../../src/controllers/controller';
import { startResourceQuotaController } from '../../src/controllers/resource-quota';
import type { KubeObject } from '../../src/api/object';
import { silentLogger } from '../../src/observability/logger';
import { describeWithEtcd } from '../support/etcd-server';
import { Cluster } from './support/cluster';
import type { HttpClient } from './support/http-client';

const HARD = 50;
const CREATIONS = 200;
/** Long enough to see in etcd what a replica has written, and to end the replica before it hears of it. */
const LAG_MS = 400;
/** As many new connections as creations take their time on a small machine. */
const CLIENT_TIMEOUT_MS = 30_000;

interface Quota extends KubeObject {
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>;
    readonly used?: Readonly<Record<string, string>>;
  };
}

describeWithEtcd('resource quotas of several replicas on one etcd', () => {
  let cluster: Cluster;
  let https: readonly HttpClient[] = [];
  let client: ApiClient;
  let controller: Controller;

  beforeAll(async () => {
    cluster = await Cluster.start({ replicas: 3, lagMs: LAG_MS });
    https = cluster.replicas.map((_, i) => cluster.client(i, CLIENT_TIMEOUT_MS));
    const { ca, cert, key } = cluster.credentials();
    client = new ApiClient({
      url: `https://127.0.0.1:${cluster.replicas[0]!.port}`,
      certificateAuthority: ca.toString(),
      clientCertificate: cert.toString(),
      clientKey: key.toString(),
      userAgent: 'test',
    });
    controller = startResourceQuotaController({ client, logger: silentLogger });
  }, 90_000);

  afterAll(async () => {
    await (controller as Controller | undefined)?.close();
    (client as ApiClient | undefined)?.close();
    for (const http of https) http[Symbol.dispose]();
    await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  });

  const quotaOf = (namespace: string): Promise<Quota> =>
    client.get<Quota>(`/api/v1/namespaces/${namespace}/resourcequotas/q`);

  async function untilQuota(namespace: string, good: (quota: Quota) => boolean): Promise<void> {
    for (const end = Date.now() + 40_000; ;) {
      const quota = await quotaOf(namespace);
      if (good(quota)) return;
      if (Date.now() > end) throw new Error(`it did not happen: ${JSON.stringify(quota.status)}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async function nextChange(prefix: string): Promise<void> {
    const { store } = cluster;
    const end = new AbortController();
    for await (const { events } of store.watch(prefix, await store.currentRevision(), end.signal)) {
      if (events.length > 0) end.abort();
    }
  }

  async function limit(namespace: string, count: string, hard: number): Promise<void> {
    await client.create('/api/v1/namespaces', { metadata: { name: namespace } });
    const spec = { hard: { [count]: String(hard) } };
    await client.create(`/api/v1/namespaces/${namespace}/resourcequotas`, { metadata: { name: 'q' }, spec });
    await untilQuota(namespace, ({ status }) => status?.used?.[count] === '0');
  }

  it('admit exactly what is allowed, however many ask at once', async () => {
    await limit('raced', 'count/configmaps', HARD);
    const path = '/api/v1/namespaces/raced/configmaps';
    const responses = await Promise.all(
      Array.from({ length: CREATIONS }, (_, i) => https[i % 2]!.send('POST', path, { metadata: { name: `c${i}` } })),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(HARD);
    expect(statuses.filter((status) => status === 403)).toHaveLength(CREATIONS - HARD);
    const { body } = await https[0]!.send('GET', path);
    const admitted = responses.filter(({ status }) => status === 201).map(({ body: { metadata } }) => metadata.name);
    expect(body.items.map(({ metadata }) => metadata.name).sort()).toEqual(admitted.sort());
    expect((await quotaOf('raced')).status).toEqual({
      hard: { 'count/configmaps': String(HARD) },
      used: { 'count/configmaps': String(HARD) },
    });
  });

  it('are mended after a crash between the charge and the object', async () => {
    await limit('crashed', 'count/secrets', 1);
    const path = '/api/v1/namespaces/crashed/secrets';
    const replica = cluster.replicas[2]!;
    const charged = nextChange('/registry/resourcequotas/crashed/');
    const lost = https[2]!.send('POST', path, { metadata: { name: 's' } }).then(
      ({ status }) => status,
      () => 'no answer',
    );
    // etcd has the charge, and the replica that made it will not hear of it any more.
    await charged;
    cluster.link.cut();
    await replica.kill();
    expect(await lost).toBe('no answer');
    expect((await https[0]!.send('GET', path)).body.items).toEqual([]);
    expect((await https[1]!.send('POST', path, { metadata: { name: 's' } })).status).toBe(403);

    await untilQuota('crashed', ({ status }) => status?.used?.['count/secrets'] === '0');
    expect((await https[1]!.send('POST', path, { metadata: { name: 's' } })).status).toBe(201);
    expect((await https[0]!.send('POST', path, { metadata: { name: 't' } })).status).toBe(403);
  });
});
