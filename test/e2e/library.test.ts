import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { PerformanceObserver } from 'node:perf_hooks';
import { join } from 'node:path';
import type * as Kubernetes from '@kubernetes/client-node' with { 'resolution-mode': 'import' };
import { startApiServer, type ApiServerFlags } from '../../src';
import { apiserverFlags } from '../../src/flags/apiserver-flags';
import { COMMAND_FLAGS } from '../../src/flags/control-plane-flags';
import { ApiClient } from '../../src/client/api-client';
import { createAuthority, issueKeyPair } from '../../src/pki/authority';
import { adminClient } from '../support/admin-client';
import { RawClient } from '../support/raw-client';

/** The package as authors of controllers use it, with the JavaScript client. */

// An ES module: from CommonJS it is loaded with import().
let kubernetes: typeof Kubernetes;
beforeAll(async () => {
  kubernetes = await import('@kubernetes/client-node');
});

function configOf(text: string): Kubernetes.KubeConfig {
  const config = new kubernetes.KubeConfig();
  config.loadFromString(text);
  return config;
}

/** Temporary files go to a folder of this test's own, whose entries it can look at. */
async function withTemporaryFolder(test: (entries: () => readonly string[]) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(`${tmpdir()}/sternpost-library-`);
  // Not by the environment: the one that tests see is a copy.
  const replaced = jest.spyOn(os, 'tmpdir').mockReturnValue(folder);
  try {
    await test(() => readdirSync(folder));
  } finally {
    replaced.mockRestore();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('it did not happen within ten seconds');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('startApiServer', () => {
  it('waits for no service account where nobody makes one', async () => {
    await using server = await startApiServer({ controllers: [] });
    const client = new RawClient(server);
    const { text } = await client.sendText('GET', '/metrics');
    client.close();
    expect(text).toContain('apiserver_request_total');
    expect(text).not.toMatch(/apiserver_request_total\{[^}]*resource="serviceaccounts"/);
  });

  it('gives every test a server of its own, which the JavaScript client reads and writes', async () => {
    await using one = await startApiServer();
    await using two = await startApiServer();
    const [first, second] = [one, two].map((server) => configOf(server.kubeconfig).makeApiClient(kubernetes.CoreV1Api));
    await first!.createNamespacedConfigMap({
      namespace: 'default',
      body: { metadata: { name: 'only-here' }, data: { a: 'b' } },
    });
    const names = async (api: Kubernetes.CoreV1Api): Promise<readonly (string | undefined)[]> =>
      (await api.listNamespacedConfigMap({ namespace: 'default' })).items.map(({ metadata }) => metadata?.name);
    await expect(names(first!)).resolves.toContain('only-here');
    await expect(names(second!)).resolves.not.toContain('only-here');
  }, 30_000);

  it('feeds informers', async () => {
    await using server = await startApiServer();
    const config = configOf(server.kubeconfig);
    const api = config.makeApiClient(kubernetes.CoreV1Api);
    const seen: string[] = [];
    const informer = kubernetes.makeInformer<Kubernetes.V1ConfigMap>(
      config,
      '/api/v1/namespaces/default/configmaps',
      () => api.listNamespacedConfigMap({ namespace: 'default' }),
    );
    informer.on('add', ({ metadata }) => seen.push(`add ${metadata?.name}`));
    informer.on('delete', ({ metadata }) => seen.push(`delete ${metadata?.name}`));
    await informer.start();
    await api.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'x' } } });
    await until(() => seen.includes('add x'));
    await api.deleteNamespacedConfigMap({ namespace: 'default', name: 'x' });
    await until(() => seen.includes('delete x'));
    await informer.stop();
  }, 30_000);

  it('ends the watches of its clients when it stops', async () => {
    const server = await startApiServer();
    const ended = new Promise<void>((resolve, reject) => {
      void new kubernetes.Watch(configOf(server.kubeconfig))
        .watch(
          '/api/v1/namespaces',
          {},
          () => undefined,
          () => resolve(),
        )
        .catch(reject);
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await server.stop();
    await ended;
    await server.stop();
  }, 30_000);

  it('leaves nothing behind when it cannot start', async () => {
    await withTemporaryFolder(async (entries) => {
      await using first = await startApiServer();
      const kept = entries();
      const port = Number(new URL(first.url).port);
      await expect(startApiServer({ port })).rejects.toThrow(`port ${port} of 127.0.0.1 is taken by another process`);
      expect(entries()).toEqual(kept);
    });
  }, 30_000);

  it('can be started again on a folder on which a start has failed', async () => {
    const dataDir = mkdtempSync(`${tmpdir()}/sternpost-library-`);
    try {
      await using other = await startApiServer();
      await expect(startApiServer({ dataDir, port: Number(new URL(other.url).port) })).rejects.toThrow('--secure-port');
      await using server = await startApiServer({ dataDir });
      expect(server.url).toMatch(/^https:/);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 30_000);

  it('keeps what was written when it is started again on the same folder', async () => {
    const dataDir = mkdtempSync(`${tmpdir()}/sternpost-library-`);
    try {
      const before = await startApiServer({ dataDir });
      await configOf(before.kubeconfig)
        .makeApiClient(kubernetes.CoreV1Api)
        .createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'kept' } } });
      await before.stop();
      await using after = await startApiServer({ dataDir });
      const api = configOf(after.kubeconfig).makeApiClient(kubernetes.CoreV1Api);
      await expect(api.readNamespacedConfigMap({ namespace: 'default', name: 'kept' })).resolves.toMatchObject({
        metadata: { name: 'kept' },
      });
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 30_000);
});

function clientWith(
  token: string,
  { url, certificateAuthority }: { readonly url: string; readonly certificateAuthority: string },
): ApiClient {
  return new ApiClient({ url, certificateAuthority, bearerToken: token, userAgent: 'test' });
}

const WIDGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.io' },
  spec: {
    group: 'example.io',
    names: { kind: 'Widget', plural: 'widgets' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
      },
    ],
  },
};

describe('the options of startApiServer', () => {
  it('are flags of the command, by their names and in the types of JavaScript', async () => {
    await using server = await startApiServer({
      flags: {
        'service-cluster-ip-range': '10.77.0.0/16',
        'disable-admission-plugins': ['ServiceAccount'],
        'runtime-config': { 'batch/v1beta1': false },
        'goaway-chance': 0,
        'event-ttl': '5m',
        'anonymous-auth': false,
      },
    });
    const client = adminClient(server);
    await expect(client.get('/api/v1/namespaces/default/services/kubernetes')).resolves.toMatchObject({
      spec: { clusterIP: '10.77.0.1' },
    });
    await expect(client.get('/apis/batch/v1beta1')).rejects.toMatchObject({ status: { code: 404 } });
    client.close();
    const nobody = clientWith('', server);
    await expect(nobody.get('/version')).rejects.toMatchObject({ status: { code: 401 } });
    nobody.close();
  }, 30_000);

  it.each<[string, object]>([
    ['unknown flag: --secure-prot (did you mean --secure-port?)', { 'secure-prot': 1 }],
    ['unknown flag: --securePort', { securePort: 1 }],
    ['invalid argument "soon" for --event-ttl: must be a duration such as 90s, 5m or 1h30m', { 'event-ttl': 'soon' }],
    ['authorization-mode "Magic" is not one of', { 'authorization-mode': ['RBAC', 'Magic'] }],
    ['flag --egress-selector-config-file asks for connections through a proxy', { 'egress-selector-config-file': 'a' }],
    ['flag --workers is for the command', { workers: 2 }],
    ['flag --help is for the command', { help: true }],
  ])('are refused as the command refuses them: %s', async (message, flags) => {
    await expect(startApiServer({ flags: flags })).rejects.toThrow(message);
  });

  it.each<[string, ApiServerFlags]>([
    ['token-auth-file', {}],
    ['audit-policy-file', {}],
    ['authorization-policy-file', { 'authorization-mode': ['ABAC'] }],
    ['oidc-ca-file', { 'oidc-issuer-url': 'https://issuer.invalid', 'oidc-client-id': 'a' }],
    ['etcd-cafile', { 'etcd-servers': ['http://127.0.0.1:1'] }],
  ])('tells of a file that is not there, and that --%s names it', async (flag, others) => {
    await expect(startApiServer({ flags: { ...others, [flag]: '/there/is/none' } })).rejects.toThrow(
      `/there/is/none: it cannot be read (ENOENT: no such file or directory, open '/there/is/none'). It is named by --${flag}: `,
    );
  });

  it('know each flag that the command knows, but those that only a command can have', () => {
    const declared = readFileSync(join(__dirname, '../../src/flags/generated/api-server-flags.ts'), 'utf8');
    const names = [...declared.matchAll(/^ {2}readonly '?([\w-]+)'?\?: /gm)].map(([, name]) => name);
    const foreign: readonly string[] = COMMAND_FLAGS;
    expect(names).toEqual(Object.keys(apiserverFlags).filter((name) => !foreign.includes(name)));
  });

  it('turn feature gates on and off, and refuse those that nobody knows', async () => {
    const autoscaler = {
      metadata: { name: 'a' },
      spec: { minReplicas: 0, maxReplicas: 2, scaleTargetRef: { apiVersion: 'v1', kind: 'Pod', name: 'x' } },
    };
    const create = async (featureGates: Readonly<Record<string, boolean>>): Promise<unknown> => {
      await using server = await startApiServer({ featureGates });
      const client = adminClient(server);
      try {
        return await client.create('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', autoscaler);
      } finally {
        client.close();
      }
    };
    await expect(create({ HPAScaleToZero: false })).rejects.toThrow('spec.minReplicas');
    await expect(create({ HPAScaleToZero: false, AllAlpha: true })).rejects.toThrow('spec.minReplicas');
    await expect(create({ HPAScaleToZero: true, EphemeralContainers: false })).rejects.toThrow('metrics');
    await expect(startApiServer({ featureGates: { Magic: true } })).rejects.toThrow(
      'invalid argument "Magic=true" for "--feature-gates" flag: unrecognized feature gate: Magic',
    );
  }, 60_000);

  it('create objects of any kinds, definitions first and the others in their order', async () => {
    const widget = { apiVersion: 'example.io/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'team' }, size: 3 };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'team' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    const yaml = [
      '# Two documents, and an empty one',
      'apiVersion: v1',
      'kind: ConfigMap',
      'metadata: {name: one}',
      'data: {a: "1"}',
      '---',
      '---',
      'apiVersion: v1',
      'kind: List',
      'items:',
      '- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: look}, rules: []}',
    ].join('\n');
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
    await using server = await startApiServer({ objects: [namespace, widget, pod, yaml, WIDGETS] });
    const client = adminClient(server);
    await expect(client.get('/apis/example.io/v1/namespaces/team/widgets/w')).resolves.toMatchObject({ size: 3 });
    await expect(client.get('/api/v1/namespaces/team/pods/p')).resolves.toMatchObject({
      spec: { serviceAccountName: 'default' },
    });
    await expect(client.get('/api/v1/namespaces/default/configmaps/one')).resolves.toMatchObject({ data: { a: '1' } });
    await expect(client.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/look')).resolves.toHaveProperty(
      'metadata',
    );
    client.close();
  }, 30_000);

  it('change objects that a folder holds from before', async () => {
    const dataDir = mkdtempSync(`${tmpdir()}/sternpost-library-`);
    const one = (a: string): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'one' },
      data: { a },
    });
    try {
      await (await startApiServer({ dataDir, objects: [WIDGETS, one('1')] })).stop();
      await using server = await startApiServer({ dataDir, objects: [WIDGETS, one('2')] });
      const client = adminClient(server);
      await expect(client.get('/api/v1/namespaces/default/configmaps/one')).resolves.toMatchObject({
        data: { a: '2' },
      });
      client.close();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 30_000);

  it.each<[string, object | string]>([
    [
      'objects[0] (ConfigMap A): ConfigMap "A" is invalid',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'A' } },
    ],
    [
      'objects[0] (Nothing n): no matches for kind "Nothing" in version "example.io/v9"',
      { apiVersion: 'example.io/v9', kind: 'Nothing', metadata: { name: 'n' } },
    ],
    ['objects[0] has no apiVersion or no kind', { metadata: { name: 'a' } }],
    [
      'objects[0], document 2 (ConfigMap) has no metadata.name',
      'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\nkind: ConfigMap\napiVersion: v1',
    ],
  ])(
    'name the object that is refused: %s',
    async (message, object) => {
      await expect(startApiServer({ objects: [object] })).rejects.toThrow(message);
    },
    30_000,
  );

  it('make users with their groups, and a token and a kubeconfig for each', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'look' },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }],
    };
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'look' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'look' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'lookers' }],
    };
    await using server = await startApiServer({
      users: { alice: ['lookers'], bob: [] },
      objects: [role, binding],
    });
    const [alice, bob, admin] = [server.users.alice.token, server.users.bob.token, server.token].map((token) =>
      clientWith(token, server),
    ) as [ApiClient, ApiClient, ApiClient];
    await expect(alice.get('/api/v1/nodes')).resolves.toMatchObject({ items: [] });
    await expect(alice.get('/api/v1/pods')).rejects.toMatchObject({ status: { code: 403 } });
    await expect(bob.get('/api/v1/nodes')).rejects.toThrow('User "bob" cannot list resource "nodes"');
    await expect(admin.get('/api/v1/secrets')).resolves.toHaveProperty('items');
    for (const client of [alice, bob, admin]) client.close();
    const api = configOf(server.users.alice.kubeconfig).makeApiClient(kubernetes.CoreV1Api);
    await expect(api.listNode()).resolves.toMatchObject({ items: [] });
    await expect(api.listNamespacedPod({ namespace: 'default' })).rejects.toMatchObject({ code: 403 });
  }, 30_000);

  it('let the server have a certificate and a client CA of somebody else', async () => {
    const folder = mkdtempSync(`${tmpdir()}/sternpost-library-`);
    try {
      const issuer = createAuthority('somebody', new Date());
      const spec = {
        subject: { commonName: 'elsewhere', organizations: [] },
        altNames: ['elsewhere.example'],
        usages: ['server auth'],
      } as const;
      const pair = issueKeyPair(issuer, spec, new Date());
      const write = (name: string, text: string): string => {
        writeFileSync(join(folder, name), text);
        return join(folder, name);
      };
      await using server = await startApiServer({
        users: { alice: ['system:masters'] },
        flags: {
          'tls-cert-file': write('tls.crt', pair.certificatePem),
          'tls-private-key-file': write('tls.key', pair.privateKeyPem),
          'client-ca-file': write('ca.crt', issuer.certificatePem),
        },
      });
      const client = new ApiClient({
        url: server.url,
        certificateAuthority: issuer.certificatePem,
        serverName: 'elsewhere.example',
        bearerToken: server.users.alice.token,
        userAgent: 'test',
      });
      // The controllers work, too.
      await expect(client.get('/api/v1/namespaces/default/serviceaccounts/default')).resolves.toHaveProperty(
        'metadata',
      );
      client.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 30_000);
});

describe('what is left of a server', () => {
  /** What would keep the process alive, by kind. */
  const resources = (): readonly string[] => process.getActiveResourcesInfo().sort();

  async function settled(before: readonly string[]): Promise<void> {
    await until(() => resources().length <= before.length);
  }

  it('is nothing when it has stopped: no folder, no handle, no timer', async () => {
    await withTemporaryFolder(async (entries) => {
      const before = resources();
      const server = await startApiServer({ users: { alice: [] }, objects: [WIDGETS] });
      expect(entries()).toHaveLength(1);
      await server.stop();
      await settled(before);
      expect(entries()).toEqual([]);
    });
  }, 30_000);

  it.each<[string, ApiServerFlags]>([
    ['a token file that is not there', { 'token-auth-file': '/nowhere/tokens.csv' }],
    ['policies that are not there', { 'authorization-mode': 'ABAC', 'authorization-policy-file': '/nowhere/policies' }],
    ['an address that is not here', { 'bind-address': '192.0.2.1' }],
    [
      'a signing key that is not there',
      { 'service-account-signing-key-file': '/nowhere/key', 'service-account-issuer': 'x' },
    ],
  ])(
    'is nothing when it cannot start because of %s',
    async (_, flags) => {
      await withTemporaryFolder(async (entries) => {
        const before = resources();
        await expect(startApiServer({ flags })).rejects.toThrow();
        await settled(before);
        expect(entries()).toEqual([]);
      });
    },
    30_000,
  );

  it('is no observer of the process: however many servers there were, it is observed once', async () => {
    const observe = jest.spyOn(PerformanceObserver.prototype, 'observe');
    await (await startApiServer()).stop();
    await (await startApiServer()).stop();
    expect(observe.mock.calls.length).toBeLessThanOrEqual(1);
    observe.mockRestore();
  }, 30_000);
});
