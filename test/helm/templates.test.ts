import { execFileSync } from 'node:child_process';
import { basename, resolve } from 'node:path';
import { apiserverFlags } from '../../src/flags/apiserver-flags';
import { parseFlags, UsageError } from '../../src/flags/flag-table';
import { ignoredFlags } from '../../src/flags/ignored-flags';
import { checkFlags } from '../../src/flags/server-from-flags';
import { unbuiltFlags } from '../../src/flags/unbuilt-flags';
import { ciFiles, container, find, Helm, type Rendered, type Values } from './support/helm';
import { HELM_MAJORS } from './support/helm-binary';

jest.setTimeout(600_000);

const helms = new Map(HELM_MAJORS.map((major) => [major, new Helm(major)]));
const helm = helms.get(3) as Helm;
afterAll(() => helms.forEach((one) => one.remove()));

const onEtcd = { storage: { type: 'etcd' }, etcd: { endpoints: ['http://etcd:2379'] } };

/** Not the mode in which Helm makes keys: they take it half a second. */
const quick = { tls: { mode: 'job' } };

async function server(values: Values = {}): Promise<Rendered> {
  return find(await helm.render({ ...quick, ...values }), 'Deployment', 'api-sternpost');
}

async function argsOf(values: Values): Promise<readonly string[]> {
  return container(await server(values))['args'] as readonly string[];
}

/** All of it but what Helm makes at random in its mode of certificates. */
function withoutSecrets(objects: readonly Rendered[]): readonly Rendered[] {
  return objects.filter(({ kind }) => kind !== 'Secret');
}

describe.each(HELM_MAJORS)('the chart, with Helm %d', (major) => {
  const own = helms.get(major) as Helm;

  it.each(ciFiles.map((file) => [basename(file), file]))('passes lint with %s', async (_name, file) => {
    const { code, stdout, stderr } = await own.run('lint', '--strict', resolve(file, '../..'), '-f', file);
    expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
  });

  it.each(ciFiles.map((file) => [basename(file), file]))('renders the same twice with %s', async (_name, file) => {
    const [first, second] = await Promise.all([own.render(file), own.render(file)]);
    expect(withoutSecrets(second)).toEqual(withoutSecrets(first));
    expect(second.length).toBe(first.length);
  });

  it('refuses values that it does not have', async () => {
    const { code, stderr } = await own.template({ etcd: { endpoint: 'http://etcd:2379' } });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/additional propert/i);
  });
});

describe.each(ciFiles.map((file) => [basename(file), file]))('the server with %s', (_name, file) => {
  let objects: readonly Rendered[];
  beforeAll(async () => {
    objects = await helm.render(file);
  });

  it('is given flags that it knows, and that go together', () => {
    const [deployment] = objects.filter(
      (one) => one['kind'] === 'Deployment' && !String(one['metadata'].name).endsWith('-controllers'),
    );
    const args = (container(deployment ?? {})['args'] as readonly string[]).slice(1);
    // Files of the pod are not here to be read.
    const readable = args
      .filter((arg) => !/^--(?:admission-control|tracing)-config-file=/.test(arg))
      .map((arg) => arg.replace('$(POD_IP)', '10.1.2.3'));
    const isBuilt = (arg: string): boolean => !unbuiltFlags.has(arg.slice(2).split('=')[0] ?? '');
    const problems = (list: readonly string[]): readonly string[] => {
      try {
        const { options, warnings } = parseFlags(apiserverFlags, list, ignoredFlags, unbuiltFlags);
        checkFlags(options, warnings);
        return warnings.filter((warning) => !warning.includes('audit-'));
      } catch (error) {
        if (error instanceof UsageError) return error.problems;
        throw error;
      }
    };
    expect(problems(readable.filter(isBuilt))).toEqual([]);
  });

  it('mounts every file that a flag names', () => {
    for (const deployment of objects.filter(({ kind }) => kind === 'Deployment')) {
      const { args, volumeMounts } = container(deployment);
      const mounts = (volumeMounts as readonly Rendered[]).map(({ mountPath }) => String(mountPath));
      const volumes = (deployment['spec'].template.spec.volumes as readonly Rendered[]).map(({ name }) => String(name));
      const files = (args as readonly string[]).flatMap((arg) => /=(\/(?:etc|var)\/[^,]*)$/.exec(arg)?.[1] ?? []);
      for (const path of files) expect(mounts.filter((mount) => path.startsWith(`${mount}/`))).toHaveLength(1);
      expect((volumeMounts as readonly Rendered[]).map(({ name }) => String(name)).filter((name) => !volumes.includes(name))).toEqual([]);
    }
  });

  it('has no annotations or labels that are null', () => {
    for (const { metadata } of objects) {
      expect(Object.values((metadata.annotations as object | undefined) ?? {}).every((value) => typeof value === 'string')).toBe(true);
      expect('annotations' in metadata && metadata.annotations === null).toBe(false);
    }
  });

  it('is as restricted as Pod Security knows, in all of its pods', () => {
    const pods = objects.flatMap((one): readonly Rendered[] => {
      if (one['kind'] === 'Pod') return [one['spec'] as Rendered];
      const template = one['spec']?.template as Rendered | undefined;
      return template === undefined ? [] : [template['spec'] as Rendered];
    });
    expect(pods.length).toBeGreaterThanOrEqual(2);
    for (const pod of pods) {
      expect(pod['securityContext']).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      const [first] = pod['containers'] as readonly Rendered[];
      expect(first?.['securityContext']).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });
});

describe('replicas', () => {
  it('are replaced one by one, the new one first', async () => {
    const { spec } = await server({ ...onEtcd, replicaCount: 3 });
    expect(spec.strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    expect(spec.template.spec.topologySpreadConstraints).toHaveLength(2);
  });

  it('of the embedded store are stopped before the next one starts', async () => {
    expect((await server()).spec.strategy).toEqual({ type: 'Recreate' });
  });

  it('have time for the delay and for what is under way', async () => {
    const { spec } = await server({ shutdown: { delaySeconds: 30 }, server: { requestTimeoutSeconds: 90 } });
    expect(spec.template.spec.terminationGracePeriodSeconds).toBe(130);
    expect(await argsOf({ shutdown: { delaySeconds: 30 } })).toContain('--shutdown-delay-duration=30s');
  });

  it('are left to the autoscaler where there is one', async () => {
    const objects = await helm.render({ ...quick, ...onEtcd, autoscaling: { enabled: true } });
    expect(find(objects, 'Deployment', 'api-sternpost')['spec']).not.toHaveProperty('replicas');
    expect(find(objects, 'HorizontalPodAutoscaler', 'api-sternpost')['spec'].minReplicas).toBe(2);
  });

  it('are restarted when a configuration changes that the server reads once', async () => {
    const annotation = async (values: Values): Promise<unknown> =>
      (await server(values)).spec.template.metadata.annotations['checksum/config'];
    expect(await annotation({ admission: { config: { plugins: [] } } })).not.toBe(
      await annotation({ admission: { config: { plugins: [{ name: 'PodNodeSelector' }] } } }),
    );
    expect(await annotation({ commonLabels: { a: 'b' } })).toBe(await annotation({}));
  });
});

describe('the heap', () => {
  it.each([
    ['2Gi', 1331],
    ['512Mi', 332],
    ['1.5Gi', 998],
    ['2000M', 1239],
    [1073741824, 665],
  ])('of a limit of %s is %d MiB', async (memory, mebibytes) => {
    const { env } = container(await server({ resources: { limits: { memory } } }));
    expect(env).toContainEqual({ name: 'NODE_OPTIONS', value: `--max-old-space-size=${mebibytes}` });
  });

  it('is shared by the processes of a replica', async () => {
    const { env } = container(await server({ ...onEtcd, server: { workers: 2 }, resources: { limits: { memory: '2Gi' } } }));
    expect(env).toContainEqual({ name: 'NODE_OPTIONS', value: '--max-old-space-size=665' });
  });

  it('is left to Node without a limit', async () => {
    const { env } = container(await server({ resources: { limits: null } }));
    expect((env as readonly Rendered[]).map(({ name }) => String(name))).toEqual(['POD_IP']);
  });
});

describe('probes', () => {
  it('ask the plain port, and can be replaced or left out', async () => {
    const probes = container(await server());
    expect(probes['livenessProbe'].httpGet).toEqual({ path: '/livez', port: 'health' });
    expect(probes['readinessProbe'].httpGet).toEqual({ path: '/readyz', port: 'health' });
    expect(probes['startupProbe'].httpGet).toEqual({ path: '/readyz', port: 'health' });
    const without = container(await server({ livenessProbe: null, readinessProbe: { periodSeconds: 7 } }));
    expect(without).not.toHaveProperty('livenessProbe');
    expect(without['readinessProbe'].periodSeconds).toBe(7);
  });
});

describe('the controllers', () => {
  const deployment = async (values: Values): Promise<Rendered> =>
    find(await helm.render(values), 'Deployment', 'api-sternpost-controllers');
  const signingVolume = ({ spec }: Rendered): unknown =>
    (spec.template.spec.volumes as readonly Rendered[]).find(({ name }) => name === 'cluster-signing')?.['secret'];
  const items = (certificate: string, key: string): unknown => [
    { key: certificate, path: 'ca.crt' },
    { key, path: 'ca.key' },
  ];

  it('sign certificate requests by the CA of the release, or by one that is given', async () => {
    expect(signingVolume(await deployment(quick))).toMatchObject({
      secretName: 'api-sternpost-client-ca',
      items: items('ca.crt', 'ca.key'),
    });
    const certManager = { tls: { mode: 'cert-manager', serviceAccountKey: { existingSecret: 'key' } } };
    expect(signingVolume(await deployment(certManager))).toMatchObject({ items: items('tls.crt', 'tls.key') });
    const given = await deployment({ ...quick, controllers: { clusterSigning: { existingSecret: 'mine' } } });
    expect(signingVolume(given)).toMatchObject({ secretName: 'mine', items: items('tls.crt', 'tls.key') });
    expect(container(given)['args']).toContain('--cluster-signing-key-file=/etc/sternpost/cluster-signing/ca.key');
  });

  it('sign nothing where that is off, or no CA is at hand', async () => {
    const off = await deployment({ ...quick, controllers: { clusterSigning: { enabled: false } } });
    const existing = await deployment({
      tls: {
        mode: 'existingSecret',
        existingSecret: 'a',
        clientCA: { existingSecret: 'b' },
        serviceAccountKey: { existingSecret: 'c' },
      },
      controllers: { kubeconfig: { existingSecret: 'd' } },
    });
    for (const one of [off, existing]) {
      expect(signingVolume(one)).toBeUndefined();
      expect((container(one)['args'] as readonly string[]).filter((arg) => arg.includes('cluster-signing'))).toEqual([]);
    }
  });

  it('have probes that can be replaced or left out', async () => {
    const probes = container(await deployment(quick));
    expect([probes['livenessProbe'].httpGet.path, probes['readinessProbe'].httpGet.path]).toEqual(['/livez', '/readyz']);
    const changed = container(
      await deployment({ ...quick, controllers: { livenessProbe: { periodSeconds: 7 }, readinessProbe: null } }),
    );
    expect(changed['livenessProbe'].periodSeconds).toBe(7);
    expect(changed).not.toHaveProperty('readinessProbe');
  });
});

it('helm test comes as the administrator, whoever made the certificate', async () => {
  const values = { tls: { mode: 'cert-manager', serviceAccountKey: { existingSecret: 'key' } } };
  const { spec } = find(await helm.render(values), 'Pod', 'api-sternpost-test');
  const volumes = JSON.stringify(spec.volumes);
  expect(volumes).toContain('api-sternpost-admin-client');
  expect(volumes).toContain('api-sternpost-admin-kubeconfig');
});

describe('etcd', () => {
  it('has its certificates from Secrets, with the names that their keys have', async () => {
    const deployment = await server({
      storage: { type: 'etcd' },
      etcd: { endpoints: ['https://a:1', 'https://b:2'], tls: { existingSecret: 'ca', caKey: 'root', certKey: '' }, auth: { existingSecret: 'user' } },
    });
    const args = container(deployment)['args'] as readonly string[];
    expect(args).toEqual(
      expect.arrayContaining([
        '--etcd-servers=https://a:1,https://b:2',
        '--etcd-cafile=/etc/sternpost/etcd-tls/ca.crt',
        '--etcd-certfile=/etc/sternpost/etcd-auth/tls.crt',
        '--etcd-keyfile=/etc/sternpost/etcd-auth/tls.key',
      ]),
    );
    const { volumes } = deployment['spec'].template.spec;
    expect((volumes as readonly Rendered[]).find(({ name }) => name === 'etcd-tls')?.['secret']).toEqual({
      secretName: 'ca',
      defaultMode: 0o440,
      items: [{ key: 'root', path: 'ca.crt' }],
    });
  });
});

describe('the embedded store', () => {
  it('keeps its volume when the release goes', async () => {
    const claim = find(await helm.render(quick), 'PersistentVolumeClaim', 'api-sternpost-data');
    expect(claim['metadata'].annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
  });

  it('takes a claim that is there, or none', async () => {
    const with_ = async (persistence: Values): Promise<Rendered | undefined> =>
      ((await server({ storage: { embedded: { persistence } } })).spec.template.spec.volumes as readonly Rendered[]).find(
        ({ name }) => name === 'data',
      );
    expect(await with_({ existingClaim: 'mine' })).toMatchObject({ persistentVolumeClaim: { claimName: 'mine' } });
    expect(await with_({ enabled: false })).toEqual({ name: 'data', emptyDir: {} });
  });
});

describe('values that cannot work are refused', () => {
  it.each<readonly [string, Values, RegExp]>([
    ['several replicas of the embedded store', { replicaCount: 2 }, /embedded is for one replica/],
    ['an autoscaler of the embedded store', { autoscaling: { enabled: true } }, /embedded is for one replica/],
    ['endpoints without their type', { etcd: { endpoints: ['http://a'] } }, /storage.type is embedded/],
    ['etcd without endpoints', { storage: { type: 'etcd' } }, /etcd.endpoints is required/],
    ['https without a Secret', { ...onEtcd, etcd: { endpoints: ['https://a'] } }, /etcd.tls.existingSecret is required/],
    ['a budget that blocks all', { ...onEtcd, replicaCount: 2, podDisruptionBudget: { minAvailable: 2 } }, /forbids every eviction/],
    ['a budget that blocks all, rounded up', { ...onEtcd, replicaCount: 3, podDisruptionBudget: { minAvailable: '67%' } }, /forbids every eviction/],
    ['certificates that are renewed as soon as they are made', { tls: { mode: 'job', validityDays: 30 } }, /must be less than/],
    ['a budget of nothing', { ...onEtcd, replicaCount: 2, podDisruptionBudget: { maxUnavailable: 0 } }, /forbids every eviction/],
    ['GOAWAY with one replica', { ...onEtcd, server: { goawayChance: 0.01 } }, /needs more than one/],
    ['workers of the embedded store', { server: { workers: 2 } }, /belongs to one process/],
    ['a grace period without draining', { shutdown: { delaySeconds: 60, terminationGracePeriodSeconds: 60 } }, /must be longer/],
    ['existing Secrets without names', { tls: { mode: 'existingSecret' } }, /tls.clientCA.existingSecret is required/],
    ['two token files', { authentication: { tokenAuth: { existingSecret: 'a' } } }, /does not go with tokens/],
    ['half of OpenID Connect', { authentication: { oidc: { issuerURL: 'https://a' } } }, /go together/],
    ['a mode without its webhook', { authorization: { modes: ['Webhook'] } }, /webhook.existingSecret is required/],
    ['anybody may do anything', { authentication: { anonymous: true }, authorization: { modes: ['AlwaysAllow'] } }, /anybody/],
    ['an Ingress without hosts', { ingress: { enabled: true } }, /ingress.hosts is required/],
    ['health checks as metrics for whom a role of old does not let', { tls: { mode: 'helm' }, serviceMonitor: { enabled: true, slisInterval: '5s' }, server: { emulatedVersion: '1.21' } }, /slisInterval needs/],
    ['two audit policies', { audit: { policy: { rules: [] }, existingConfigMap: 'a' } }, /give either/],
    ['two configurations of traces', { tracing: { config: { kind: 'a' }, existingConfigMap: 'a' } }, /give either/],
    ['one port for both', { health: { port: 6443 } }, /are the same/],
    ['an update that cannot begin', { ...onEtcd, updateStrategy: { rollingUpdate: { maxSurge: 0 } } }, /cannot both be 0/],
  ])('%s', async (_name, values, message) => {
    const { code, stderr } = await helm.template(values);
    expect(stderr).toMatch(message);
    expect(code).not.toBe(0);
  });

  it('with all problems at once', async () => {
    const { stderr } = await helm.template({ replicaCount: 2, ingress: { enabled: true } });
    expect(stderr).toMatch(/embedded is for one replica/);
    expect(stderr).toMatch(/ingress.hosts is required/);
  });
});

it('README and schema say what values.yaml says', () => {
  const script = resolve(__dirname, '../../scripts/chart-docs.ts');
  execFileSync(process.execPath, ['--require', 'tsx/cjs', script, '--check'], { stdio: 'pipe' });
});
