import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import { ApiClient } from '../../src/client/api-client';
import { foreignKinds } from './support/foreign-kinds';
import { CHART, ciFiles, Helm, type Rendered, type Values } from './support/helm';
import { HELM_MAJORS } from './support/helm-binary';
import { SmallNode } from './support/small-node';

/** Releases of the chart in a Sternpost, by real Helms. */

jest.setTimeout(300_000);

let host: ApiServer;
let client: ApiClient;
let folder: string;

const hostObjects = [...foreignKinds, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } }];

function clientOf({ url, token, certificateAuthority }: ApiServer): ApiClient {
  return new ApiClient({ url, bearerToken: token, certificateAuthority, userAgent: 'test' });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-host-'));
  host = await startApiServer({ objects: hostObjects });
  writeFileSync(join(folder, 'kubeconfig'), host.kubeconfig);
  client = clientOf(host);
});
afterAll(async () => {
  client.close();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function secretsOf(): Promise<Readonly<Record<string, unknown>>> {
  const { items } = await client.get<Rendered>('/api/v1/namespaces/tenants/secrets');
  const own = (items as readonly Rendered[]).filter(
    ({ metadata, type }) => String(metadata.name).startsWith('api-') && type !== 'kubernetes.io/service-account-token',
  );
  return Object.fromEntries(own.map(({ metadata, data }) => [String(metadata.name), data]));
}

async function removeSecrets(): Promise<void> {
  await client.deleteCollection('/api/v1/namespaces/tenants/secrets', {});
  await client.deleteCollection('/api/v1/namespaces/tenants/persistentvolumeclaims', {});
}

describe.each(HELM_MAJORS)('a release by Helm %d', (major) => {
  let helm: Helm;
  let node: SmallNode;
  beforeAll(() => {
    helm = new Helm(major, host.kubeconfig);
    node = new SmallNode(client, join(folder, 'kubeconfig'));
  });
  afterAll(async () => {
    await node[Symbol.asyncDispose]();
    helm.remove();
  });

  afterEach(async () => {
    await helm.run('uninstall', 'api', '--ignore-not-found', '--namespace', 'tenants');
    await removeSecrets();
  });

  const succeed = async (...argv: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await helm.run(...argv, '--namespace', 'tenants');
    expect({ code, stderr: code === 0 ? '' : stderr + node.testOutput }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const put = (command: 'install' | 'upgrade', values: Values): Promise<string> =>
    succeed(command, 'api', CHART, '-f', helm.valuesFile(values));

  it('is installed, passes its test, is upgraded, rolled back and tested again, with the same keys', async () => {
    const notes = await put('install', { tls: { frontProxy: { enabled: true } } });
    expect(notes).toContain('helm --namespace tenants test api');
    const keys = await secretsOf();
    expect(Object.keys(keys)).toHaveLength(8);
    await node.runServer('api-sternpost');
    await succeed('test', 'api');
    expect(node.testOutput.match(/^ok: /gm)).toHaveLength(5);

    await put('upgrade', { tls: { frontProxy: { enabled: true } }, server: { verbosity: 3 }, podAnnotations: { a: 'b' } });
    expect(await secretsOf()).toEqual(keys);
    await succeed('rollback', 'api', '1');
    expect(await secretsOf()).toEqual(keys);
    await node.runServer('api-sternpost');
    await succeed('test', 'api');

    await succeed('uninstall', 'api');
    const claims = await client.get<Rendered>('/api/v1/namespaces/tenants/persistentvolumeclaims');
    expect((claims['items'] as readonly Rendered[]).map(({ metadata }) => String(metadata.name))).toEqual(['api-sternpost-data']);
  });

  it('gets another serving certificate of the same CA when its names change', async () => {
    await put('install', {});
    const before = await secretsOf();
    await put('upgrade', { tls: { dnsNames: ['api.example.com'] } });
    const after = await secretsOf();
    expect(after['api-sternpost-client-ca']).toEqual(before['api-sternpost-client-ca']);
    expect(after['api-sternpost-tls']).not.toEqual(before['api-sternpost-tls']);
  });

  it('has its certificates made by a job, once', async () => {
    const values = { tls: { mode: 'job', frontProxy: { enabled: true } } };
    await put('install', values);
    const keys = await secretsOf();
    expect(Object.keys(keys)).toHaveLength(7);
    await node.runServer('api-sternpost');
    await succeed('test', 'api');
    await put('upgrade', { ...values, server: { verbosity: 1 } });
    expect(await secretsOf()).toEqual(keys);
  });
});

describe('the objects of the chart', () => {
  const helm = new Helm(3);
  afterAll(() => helm.remove());

  /** Creates objects in a server of their own, where nothing else is; fields that the API does not know are refused. */
  async function createAll(objects: readonly Rendered[]): Promise<void> {
    await using server = await startApiServer({ objects: hostObjects });
    const own = clientOf(server);
    const rank = ({ kind }: Rendered): number => (['ServiceAccount', 'Secret'].includes(String(kind)) ? 0 : 1);
    try {
      for (const object of [...objects].sort((left, right) => rank(left) - rank(right))) {
        await own.create(`${await pathOf(own, object)}?fieldValidation=Strict`, object);
      }
    } finally {
      own.close();
    }
  }

  async function pathOf(own: ApiClient, { apiVersion, kind, metadata }: Rendered): Promise<string> {
    const root = String(apiVersion).includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { resources } = await own.get<Rendered>(root);
    const found = (resources as readonly Rendered[]).find((one) => one['kind'] === kind && !String(one['name']).includes('/'));
    return `${root}/namespaces/${metadata.namespace ?? 'tenants'}/${found?.['name']}`;
  }

  it.each(ciFiles.map((file) => [basename(file), file]))('of %s are accepted, every field of them', async (_name, file) => {
    const objects = await helm.render(file);
    expect(objects.length).toBeGreaterThan(5);
    await createAll(objects);
  });

  it('would be refused with a field that is none', async () => {
    const objects = await helm.render({ tls: { mode: 'job' } });
    const service = objects.find(({ kind }) => kind === 'Service') as Rendered;
    const wrong = { ...service, spec: { ...(service['spec'] as object), replicaCount: 2 } };
    await expect(createAll([wrong])).rejects.toThrow(/replicaCount/);
  });
});
