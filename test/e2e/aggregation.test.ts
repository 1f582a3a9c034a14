import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import type { ApiClient } from '../../src/client/api-client';
import type { KubeObject } from '../../src/api/object';
import { createAuthority } from '../../src/pki/authority';
import { adminClient } from '../support/admin-client';
import { AggregatedApis, API_SERVICES, emptyList, type Condition } from '../support/aggregated-apis';
import { Kubectl } from '../support/kubectl';
import { RawClient } from '../support/raw-client';
import { authority, clientKeys, servingKeys } from '../support/serving-keys';
import { until } from '../support/until';

/** One API server behind another, as metrics-server is behind kube-apiserver; and backends that misbehave. */

const GROUP = 'ships.example.io';
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `boats.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'boats', singular: 'boat', kind: 'Boat', shortNames: ['bt'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { masts: { type: 'integer', description: 'How many masts.' } } },
            },
          },
        },
      },
    ],
  },
};

/** What lets these users do anything with boats. */
function allowing(...users: readonly string[]) {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  return [
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: 'boats' },
      rules: [{ apiGroups: [GROUP], resources: ['*'], verbs: ['*'] }],
    },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'boats' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'boats' },
      subjects: users.map((name) => ({ kind: 'User', apiGroup, name })),
    },
  ];
}

let folder: string;
let behind: ApiServer;
let front: ApiServer<'alice' | 'bob'>;
let client: ApiClient;
let raw: RawClient;
let kubectl: Kubectl;
let apis: AggregatedApis;
const never = new AbortController().signal;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-aggregation-'));
  const put = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const frontAuthority = createAuthority('front-ca', new Date());
  const shown = clientKeys('front-proxy', [], frontAuthority);
  const serving = servingKeys(authority, 'ships.default.svc');
  [behind, front] = await Promise.all([
    startApiServer({
      objects: [definition, ...allowing('alice')],
      flags: {
        'tls-cert-file': put('serving.crt', serving.certificatePem),
        'tls-private-key-file': put('serving.key', serving.privateKeyPem),
        'requestheader-client-ca-file': put('front.crt', frontAuthority.certificatePem),
        'requestheader-allowed-names': 'front-proxy',
        'requestheader-username-headers': 'X-Remote-User',
        'requestheader-group-headers': 'X-Remote-Group',
        'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
      },
    }),
    startApiServer({
      users: { alice: [], bob: [] },
      flags: {
        'proxy-client-cert-file': put('shown.crt', shown.certificatePem),
        'proxy-client-key-file': put('shown.key', shown.privateKeyPem),
      },
    }),
  ]);
  client = adminClient(front);
  apis = new AggregatedApis(client);
  raw = new RawClient(front);
  kubectl = new Kubectl(front.kubeconfig);
  await apis.register(GROUP, Number(new URL(behind.url).port));
  await apis.settled(`v1.${GROUP}`, 'True');
}, 60_000);

afterAll(async () => {
  raw?.close();
  kubectl?.remove();
  apis?.close();
  await front?.stop();
  await behind?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

describe('a group of another API server', () => {
  it('is available when it answers', async () => {
    await expect(apis.availabilityOf(`v1.${GROUP}`)).resolves.toMatchObject({
      reason: 'Passed',
      message: 'all checks passed',
    });
  });

  it('is used by kubectl like any other', async () => {
    const boat = JSON.stringify({
      apiVersion: `${GROUP}/v1`,
      kind: 'Boat',
      metadata: { name: 'argo' },
      spec: { masts: 2 },
    });
    await expect(kubectl.run(['create', '-f', '-'], { input: boat })).resolves.toMatchObject({
      code: 0,
      stdout: expect.stringContaining('boat.ships.example.io/argo created'),
    });
    await expect(kubectl.run(['get', 'bt', '-o', 'name'])).resolves.toMatchObject({
      stdout: 'boat.ships.example.io/argo\n',
    });
    const resources = await kubectl.run(['api-resources', `--api-group=${GROUP}`]);
    expect(resources.stdout).toContain('Boat');
    const explained = await kubectl.run(['explain', 'boats.spec.masts']);
    expect(explained.stdout + explained.stderr).toContain('How many masts.');
    await expect(kubectl.run(['delete', 'boat', 'argo'])).resolves.toMatchObject({ code: 0 });
  }, 60_000);

  it('stands among the groups by its priority', async () => {
    const { groups } = await client.get<{ groups: readonly { name: string; versions: readonly object[] }[] }>(
      '/apis',
      never,
    );
    const names = groups.map(({ name }) => name);
    expect(names.indexOf(GROUP)).toBeGreaterThan(names.indexOf('apps'));
    await expect(client.get(`/apis/${GROUP}`, never)).resolves.toMatchObject({ kind: 'APIGroup', name: GROUP });
  });

  it('is described in OpenAPI, in both versions', async () => {
    const v2 = await until(
      async () => {
        const { text } = await raw.sendText('GET', '/openapi/v2');
        return JSON.parse(text) as Readonly<Record<'paths' | 'definitions', Readonly<Record<string, object>>>>;
      },
      ({ paths }) => paths[`/apis/${GROUP}/v1/boats`] !== undefined,
    );
    expect(v2.definitions['io.example.ships.v1.Boat']).toMatchObject({
      properties: { spec: { properties: { masts: { type: 'integer' } } } },
    });
    const v3 = await client.get<{ components: { schemas: object } }>(`/openapi/v3/apis/${GROUP}/v1`, never);
    expect(Object.keys(v3.components.schemas)).toContain('io.example.ships.v1.Boat');
  });

  it('is watched through both servers', async () => {
    const boats = `/apis/${GROUP}/v1/namespaces/default/boats`;
    const watched = raw.sendText('GET', `${boats}?watch=1&timeoutSeconds=3`);
    for (const name of ['w1', 'w2']) {
      await client.create(boats, { apiVersion: `${GROUP}/v1`, kind: 'Boat', metadata: { name } }, never);
    }
    const { status, text } = await watched;
    expect(status).toBe(200);
    expect(text).toContain('"name":"w1"');
    expect(text).toContain('"name":"w2"');
  });

  it('is told who asks, and decides for itself', async () => {
    const path = `/apis/${GROUP}/v1/namespaces/default/boats`;
    const response = async (user: 'alice' | 'bob'): Promise<number> =>
      (await fetchAs(front.users[user].token, path)).status;
    await expect(response('alice')).resolves.toBe(403);
    for (const { kind, ...object } of allowing('alice', 'bob')) {
      await client.create(`/apis/rbac.authorization.k8s.io/v1/${kind.toLowerCase()}s`, object, never);
    }
    await expect(
      until(
        () => response('alice'),
        (status) => status === 200,
      ),
    ).resolves.toBe(200);
    // The other server has never heard of him, whatever he claims to be.
    await expect(response('bob')).resolves.toBe(403);
  });
});

async function fetchAs(token: string, path: string): Promise<{ status: number; text: string }> {
  const { request } = await import('node:https');
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'x-remote-user': 'root',
      'x-remote-group': 'system:masters',
      'x-remote-extra-key': 'value',
    };
    const asking = request(new URL(path, front.url), { ca: front.certificateAuthority, headers }, (response) => {
      let text = '';
      response.on('data', (piece) => (text += String(piece)));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asking.on('error', reject).end();
  });
}

describe('the request that another server gets', () => {
  it('names the user in headers that the client cannot set, and carries no credentials', async () => {
    const seen: IncomingMessage['headersDistinct'][] = [];
    const port = await apis.backend('echo', (request, response) => {
      if (request.url === '/apis/echo.example.io/v1/things') seen.push(request.headersDistinct);
      response.setHeader('content-type', 'application/json');
      response.end(emptyList('echo.example.io'));
    });
    const name = await apis.register('echo.example.io', port);
    await apis.settled(name, 'True');
    const answer = await fetchAs(front.token, '/apis/echo.example.io/v1/things');
    expect(answer.status).toBe(200);
    const [headers = {}] = seen;
    expect(headers['authorization']).toBeUndefined();
    expect(headers['x-remote-user']).toHaveLength(1);
    expect(headers['x-remote-user']).not.toEqual(['root']);
    expect(headers['x-remote-group']).toContain('system:authenticated');
    expect(headers['x-remote-extra-key']).toBeUndefined();
  });
});

describe('a backend', () => {
  it('whose service is not there is not available, and its requests get a 503', async () => {
    await client.create(
      API_SERVICES,
      {
        metadata: { name: 'v1.gone.example.io' },
        spec: {
          group: 'gone.example.io',
          version: 'v1',
          service: { namespace: 'default', name: 'gone' },
          groupPriorityMinimum: 100,
          versionPriority: 10,
        },
      },
      never,
    );
    await expect(apis.settled('v1.gone.example.io', 'False')).resolves.toMatchObject({
      reason: 'ServiceNotFound',
      message: 'service/gone in "default" is not present',
    });
    await expect(raw.sendText('GET', '/apis/gone.example.io/v1/things')).resolves.toMatchObject({
      status: 503,
      text: 'service unavailable\n',
    });
    await expect(raw.sendText('GET', '/apis/gone.example.io/v1')).resolves.toMatchObject({ status: 503 });
  });

  it.each([
    ['refused', 'refuses connections', async () => 1, 'connection refused'],
    [
      'stranger',
      'shows a certificate of another authority',
      async () =>
        apis.backend(
          'stranger',
          (_request, response) => response.end(emptyList('stranger.example.io')),
          servingKeys(createAuthority('other', new Date()), 'stranger.default.svc'),
        ),
      'x509',
    ],
    [
      'misnamed',
      'shows a certificate of another name',
      async () => apis.backend('another', (_request, response) => response.end(emptyList('misnamed.example.io'))),
      'x509',
    ],
    [
      'failing',
      'answers with an error',
      async () => apis.backend('failing', (_request, response) => response.writeHead(500).end()),
      'bad status from',
    ],
    [
      'endless',
      'answers with 10 MB',
      async () => apis.backend('endless', (_request, response) => response.end(Buffer.alloc(10_000_000, ' '))),
      'longer than',
    ],
    [
      'half',
      'answers half',
      async () =>
        apis.backend('half', (_request, response) => {
          response.writeHead(200, { 'content-length': '1000' });
          response.write('{', () => response.destroy());
        }),
      'failing or missing response from',
    ],
  ])('%s.example.io that %s is not available', async (service, _what, start, message) => {
    const name = await apis.register(`${service}.example.io`, await start());
    const condition = await apis.settled(name, 'False');
    expect(condition?.reason).toBe('FailedDiscoveryCheck');
    expect(condition?.message).toContain(message);
    const { text } = await raw.sendText(
      'GET',
      '/apis',
      undefined,
      null,
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    );
    const { items } = JSON.parse(text) as { items: readonly { metadata: { name: string }; versions: unknown }[] };
    expect(items.find(({ metadata }) => metadata.name === `${service}.example.io`)?.versions).toEqual([
      { version: 'v1', resources: [], freshness: 'Stale' },
    ]);
  });

  it('that does not answer keeps a namespace from going, and the namespace says so', async () => {
    await client.create('/api/v1/namespaces', { metadata: { name: 'leaving' } }, never);
    await client.delete('/api/v1/namespaces/leaving', {}, never);
    const conditions = await until(
      async () => {
        const { status } = await client.get<KubeObject>('/api/v1/namespaces/leaving', never);
        return (status as { conditions?: readonly Condition[] }).conditions ?? [];
      },
      (found) => found.length > 0,
    );
    expect(conditions?.[0]).toMatchObject({
      type: 'NamespaceDeletionDiscoveryFailure',
      status: 'True',
      reason: 'DiscoveryFailed',
      message: expect.stringContaining('gone.example.io/v1: the server is currently unable to handle the request'),
    });
  });
});
