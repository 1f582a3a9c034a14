import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject } from '../../src/api/object';
import type { ApiClient } from '../../src/client/api-client';
import { startCertificateCleaner } from '../../src/controllers/certificates/cleaner';
import type { Controller } from '../../src/controllers/controller';
import { startLegacyTokenCleaner } from '../../src/controllers/legacy-token-cleaner';
import { startPodGarbageCollector } from '../../src/controllers/pod-garbage-collector';
import { startTtlAfterFinished } from '../../src/controllers/ttl-after-finished';
import { silentLogger } from '../../src/observability/logger';
import { adminClient } from '../support/admin-client';
import { makeCertificateRequest } from '../support/certificate-request';
import { exists, until } from '../support/until';

/** Controllers that end what nobody else ends, and those of bootstrap tokens; clocks are moved where time has to pass. */

let server: ApiServer;
let client: ApiClient;
const started: Controller[] = [];

beforeAll(async () => {
  server = await startApiServer();
  client = adminClient(server);
  await client.create('/api/v1/namespaces', { metadata: { name: 'ns' } });
  await until(
    () => client.get('/api/v1/namespaces/ns/serviceaccounts/default'),
    () => true,
  );
}, 30_000);

afterAll(async () => {
  await Promise.all(started.map((controller) => controller.close()));
  client.close();
  await server.stop();
});

const HOUR_MS = 3_600_000;
const parts = () => ({ client, logger: silentLogger });
const untilGone = (path: string): Promise<boolean> =>
  until(
    () => exists(() => client.get(path)),
    (there) => !there,
  );
const isThere = (path: string): Promise<boolean> => exists(() => client.get(path));
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('bootstrap tokens', () => {
  const SECRETS = '/api/v1/namespaces/kube-system/secrets';
  const MAP = '/api/v1/namespaces/kube-public/configmaps/cluster-info';
  const token = (id: string, more: Readonly<Record<string, string>> = {}): Promise<KubeObject> =>
    client.create(SECRETS, {
      metadata: { name: `bootstrap-token-${id}` },
      type: 'bootstrap.kubernetes.io/token',
      data: Object.fromEntries(
        Object.entries({ 'token-id': id, 'token-secret': `secretof${id}00`, ...more }).map(([key, value]) => [
          key,
          base64(value),
        ]),
      ),
    });
  const dataOf = ({ data }: KubeObject): Readonly<Record<string, string>> => data as Record<string, string>;
  const signing = { 'usage-bootstrap-signing': 'true' };

  it('sign cluster-info, those that are meant for it, for as long as they are there', async () => {
    await token('signer', signing);
    await token('silent');
    await client.create('/api/v1/namespaces/kube-public/configmaps', {
      metadata: { name: 'cluster-info' },
      data: { kubeconfig: 'first', 'jws-kubeconfig-nobody': 'left over' },
    });
    const signatureOf = (text: string): string => {
      const header = Buffer.from('{"alg":"HS256","kid":"signer"}').toString('base64url');
      const signed = `${header}.${Buffer.from(text).toString('base64url')}`;
      return `${header}..${createHmac('sha256', 'secretofsigner00').update(signed).digest('base64url')}`;
    };
    const signed = await until(
      () => client.get(MAP),
      (map) => 'jws-kubeconfig-signer' in dataOf(map),
    );
    expect(dataOf(signed)).toEqual({ kubeconfig: 'first', 'jws-kubeconfig-signer': signatureOf('first') });
    await client.patch(MAP, 'merge', { data: { kubeconfig: 'second' } });
    await until(
      () => client.get(MAP),
      (map) => dataOf(map)['jws-kubeconfig-signer'] === signatureOf('second'),
    );
    await client.delete(`${SECRETS}/bootstrap-token-signer`);
    await until(
      () => client.get(MAP),
      (map) => !('jws-kubeconfig-signer' in dataOf(map)),
    );
  });

  it('are deleted when their time is over', async () => {
    await token('lasts1', { expiration: new Date(Date.now() + HOUR_MS).toISOString() });
    await token('ended1', { expiration: new Date(Date.now() - 1000).toISOString() });
    await token('soon01', { expiration: new Date(Date.now() + 1500).toISOString() });
    await untilGone(`${SECRETS}/bootstrap-token-ended1`);
    await untilGone(`${SECRETS}/bootstrap-token-soon01`);
    await expect(isThere(`${SECRETS}/bootstrap-token-lasts1`)).resolves.toBe(true);
  });
});

describe('certificate requests', () => {
  const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

  it('are deleted an hour after their last change', async () => {
    const { request } = makeCertificateRequest({ commonName: 'old' });
    const spec = { request, signerName: 'example.com/any', usages: ['client auth'] };
    await client.create(REQUESTS, { metadata: { name: 'old' }, spec });
    let now = Date.now() + HOUR_MS - 60_000;
    started.push(startCertificateCleaner(parts(), () => now));
    await client.patch(`${REQUESTS}/old`, 'merge', { metadata: { labels: { a: 'b' } } });
    await expect(isThere(`${REQUESTS}/old`)).resolves.toBe(true);
    now += 120_000;
    await client.patch(`${REQUESTS}/old`, 'merge', { metadata: { labels: { a: 'c' } } });
    await untilGone(`${REQUESTS}/old`);
  });
});

describe('finished Jobs', () => {
  const JOBS = '/apis/batch/v1/namespaces/ns/jobs';
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };

  it('are deleted after their time, and no sooner', async () => {
    for (const [name, ttlSecondsAfterFinished] of [
      ['short', 60],
      ['long', 6000],
    ] as const) {
      await client.create(JOBS, { metadata: { name }, spec: { template, ttlSecondsAfterFinished } });
    }
    await client.create(JOBS, { metadata: { name: 'running' }, spec: { template, ttlSecondsAfterFinished: 0 } });
    for (const name of ['short', 'long']) {
      const job = await client.get(`${JOBS}/${name}`);
      const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, '');
      await client.update(`${JOBS}/${name}/status`, {
        ...job,
        status: { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime }] },
      });
    }
    started.push(startTtlAfterFinished(parts(), () => Date.now() + 120_000));
    await untilGone(`${JOBS}/short`);
    await expect(isThere(`${JOBS}/long`)).resolves.toBe(true);
    await expect(isThere(`${JOBS}/running`)).resolves.toBe(true);
  });
});

describe('pods that nobody else ends', () => {
  const PODS = '/api/v1/namespaces/ns/pods';
  const pod = (name: string, spec: object = {}, metadata: object = {}): Promise<KubeObject> =>
    client.create(PODS, {
      metadata: { name, ...metadata },
      spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
    });
  const end = async (name: string): Promise<unknown> =>
    client.patch(`${PODS}/${name}/status`, 'merge', { status: { phase: 'Succeeded' } });

  it('go when their node is gone, when they end without one, and when too many have ended', async () => {
    await client.create('/api/v1/nodes', { metadata: { name: 'here' } });
    await pod('on-node', { nodeName: 'here' });
    await pod('on-no-node', { nodeName: 'nowhere' });
    await pod('terminating', {}, { finalizers: ['example.com/hold'] });
    await client.delete(`${PODS}/terminating`);
    await client.patch(`${PODS}/terminating`, 'merge', { metadata: { finalizers: null } });
    for (const name of ['ended-1', 'ended-2', 'ended-3']) {
      await pod(name, { nodeName: 'here' });
      await end(name);
    }
    const options = { terminatedThreshold: 2, now: Date.now, roundMs: 50, quarantineMs: 100 };
    started.push(startPodGarbageCollector(parts(), options));
    for (const name of ['on-no-node', 'terminating']) await untilGone(`${PODS}/${name}`);
    await until(
      () => client.get<{ items: readonly KubeObject[] }>(PODS),
      ({ items }) => items.filter(({ metadata }) => metadata.name?.startsWith('ended')).length === 2,
    );
    await expect(isThere(`${PODS}/on-node`)).resolves.toBe(true);
  });
});

describe('token secrets that were generated', () => {
  const DAY_MS = 24 * HOUR_MS;
  const NAMESPACE = '/api/v1/namespaces/tokens';
  const INVALID = 'kubernetes.io/legacy-token-invalid-since';
  const LAST_USED = 'kubernetes.io/legacy-token-last-used';
  const labelsOf = async (path: string): Promise<Readonly<Record<string, string>>> =>
    (await client.get(path)).metadata.labels ?? {};
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const secretOf = async (account: string): Promise<string> => {
    await client.create(`${NAMESPACE}/serviceaccounts`, { metadata: { name: account } });
    const { secrets } = await until(
      () => client.get<{ secrets?: readonly { readonly name: string }[] }>(`${NAMESPACE}/serviceaccounts/${account}`),
      (found) => (found.secrets?.length ?? 0) > 0,
    );
    return `${NAMESPACE}/secrets/${secrets![0]!.name}`;
  };
  /** Whether the server believes the token of the secret. */
  const isBelieved = async (path: string): Promise<boolean> => {
    const token = Buffer.from(dataOfSecret(await client.get(path)).token ?? '', 'base64').toString();
    const headers = { Authorization: `Bearer ${token}` };
    const asked = httpsGet(`${server.url}/apis`, { headers, rejectUnauthorized: false });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode === 200;
  };
  const dataOfSecret = ({ data }: KubeObject) => data as Readonly<Record<string, string>>;

  it('are marked when nobody has used them for long, and deleted after as long again', async () => {
    await client.create('/api/v1/namespaces', { metadata: { name: 'tokens' } });
    const unused = await secretOf('unused');
    const spared = await secretOf('spared');
    const used = await secretOf('used');
    const mounted = await secretOf('mounted');
    const manual = `${NAMESPACE}/secrets/manual`;
    await client.create(`${NAMESPACE}/secrets`, {
      metadata: { name: 'manual', annotations: { 'kubernetes.io/service-account.name': 'unused' } },
      type: 'kubernetes.io/service-account-token',
    });
    await client.create(`${NAMESPACE}/pods`, {
      metadata: { name: 'pod' },
      spec: {
        serviceAccountName: 'used',
        containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: mounted.split('/').at(-1) } }] }],
      },
    });
    await expect(isBelieved(unused)).resolves.toBe(true);
    await until(
      () => labelsOf(unused),
      (labels) => labels[LAST_USED] !== undefined,
    );
    const tracking = await client.get(
      '/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking',
    );
    expect(dataOfSecret(tracking).since).toBe((await labelsOf(unused))[LAST_USED]);

    let now = Date.now() + 365 * DAY_MS;
    const note = (path: string, days: number) =>
      client.patch(path, 'merge', { metadata: { labels: { [LAST_USED]: day(now + days * DAY_MS) } } });
    await note(used, 800);
    started.push(startLegacyTokenCleaner(parts(), { periodMs: 365 * DAY_MS, now: () => now, roundMs: 50 }));
    // The day on which tracking began is not over everywhere.
    await new Promise((done) => setTimeout(done, 300));
    expect(Object.keys(await labelsOf(unused))).toEqual([LAST_USED]);
    now += 2 * DAY_MS;
    for (const path of [unused, spared]) {
      await until(
        () => labelsOf(path),
        (labels) => labels[INVALID] === day(now),
      );
    }
    await until(
      () => isBelieved(unused),
      (isGood) => !isGood,
    );
    await note(spared, 0);
    now += 366 * DAY_MS;
    await note(spared, 0);
    await untilGone(unused);
    for (const path of [spared, used, mounted, manual]) await expect(isThere(path)).resolves.toBe(true);
    for (const path of [used, mounted, manual]) expect((await labelsOf(path))[INVALID]).toBeUndefined();
  });
});
