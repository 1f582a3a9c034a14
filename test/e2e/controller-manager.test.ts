import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { ApiClient } from '../../src/client/api-client';
import type { KubeObject } from '../../src/api/object';
import { createAuthority, issueKeyPair } from '../../src/pki/authority';
import { freePorts } from '../support/free-ports';

/** Two `sternpost controller-manager` processes beside a `sternpost apiserver`, which they reach by a credential plugin. */

const HOOK = resolve(__dirname, '../support/typescript-hook.js');
const MAIN = resolve(__dirname, '../../src/cli/main.ts');
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/sternpost-controller-manager';

interface Running {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly exit: Promise<number | null>;
}

let folder: string;
let client: ApiClient;
const running: Running[] = [];

function start(...argv: readonly string[]): Running {
  const child = spawn(process.execPath, ['-r', HOOK, MAIN, ...argv], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  const started = { process: child, output: () => output, exit };
  running.push(started);
  return started;
}

async function until<T>(read: () => Promise<T> | T, good: (value: T) => boolean, what: string): Promise<T> {
  for (const end = Date.now() + 30_000; ;) {
    const value = await Promise.resolve(read()).catch(() => undefined);
    if (value !== undefined && good(value)) return value;
    if (Date.now() > end)
      throw new Error(`${what}: ${JSON.stringify(value)}\n${running.map((r) => r.output()).join('\n')}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

const manager = (...flags: readonly string[]): Running =>
  start(
    'controller-manager',
    '--kubeconfig=managers.kubeconfig',
    '--leader-elect-lease-duration=3s',
    '--leader-elect-renew-deadline=2s',
    '--leader-elect-retry-period=200ms',
    '--service-account-private-key-file=sa.key',
    ...flags,
  );
const leads = ({ output }: Running): boolean => output().includes('controllers start');
const asked = (): number => readFileSync(join(folder, 'asked'), 'utf8').length;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-managers-'));
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const now = new Date();
  const ca = createAuthority('test-ca', now);
  const serving = issueKeyPair(
    ca,
    { subject: { commonName: 's', organizations: [] }, altNames: ['127.0.0.1'], usages: ['server auth'] },
    now,
  );
  put('ca.crt', ca.certificatePem);
  put('serving.crt', serving.certificatePem);
  put('serving.key', serving.privateKeyPem);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  put('sa.key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  put('tokens.csv', 'admintoken,admin,,system:masters\nmanagertoken,managers,,system:masters\n');
  put('asked', '');
  const server = start(
    'apiserver',
    '--secure-port=0',
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    '--data-dir=data',
    '--tls-cert-file=serving.crt',
    '--tls-private-key-file=serving.key',
    '--token-auth-file=tokens.csv',
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-account-signing-key-file=sa.key',
  );
  const output = await until(server.output, (text) => /"msg":"serving"/.test(text), 'the server serves');
  const url = `https://127.0.0.1:${/"port":(\d+)/.exec(output)?.[1] ?? ''}`;
  client = new ApiClient({
    url,
    certificateAuthority: ca.certificatePem,
    bearerToken: 'admintoken',
    userAgent: 'test',
  });
  // The plugin counts how often it is asked. Its second answer is good; the first has been revoked.
  put(
    'plugin.js',
    `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs');
const { apiVersion, kind } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
appendFileSync(process.env.COUNT, '.');
const first = readFileSync(process.env.COUNT, 'utf8').length === 1;
console.log(JSON.stringify({ apiVersion, kind, status: { token: first ? 'revokedtoken' : 'managertoken' } }));
`,
  );
  chmodSync(join(folder, 'plugin.js'), 0o755);
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: './plugin.js',
    env: [{ name: 'COUNT', value: join(folder, 'asked') }],
    interactiveMode: 'Never',
  };
  put(
    'managers.kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': 'ca.crt' } }],
      users: [{ name: 'u', user: { exec } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    }),
  );
  await until(
    () => client.get('/api/v1/namespaces/kube-system'),
    () => true,
    'the server is ready',
  );
}, 60_000);

afterAll(async () => {
  client.close();
  for (const one of running) {
    one.process.kill('SIGKILL');
    await one.exit;
  }
  rmSync(folder, { recursive: true, force: true });
});

const accountIn = (namespace: string) => () =>
  client.get<KubeObject & { secrets?: readonly object[] }>(`/api/v1/namespaces/${namespace}/serviceaccounts/default`);

describe('two controller managers', () => {
  it('share one lease: the second takes over when the first is killed, and gives the lease back when it ends', async () => {
    const one = manager();
    await until(
      () => leads(one),
      (yes) => yes,
      'the first leads',
    );
    const [port = 0] = await freePorts(1);
    const two = manager('--controllers=*,-serviceaccount', `--healthz-bind-address=127.0.0.1:${port}`);
    await client.create('/api/v1/namespaces', { metadata: { name: 'n1' } });
    await until(accountIn('n1'), ({ secrets = [] }) => secrets.length === 1, 'an account with its token');
    const lease = async () => (await client.get(LEASE)).spec as Readonly<Record<string, string>>;
    // The first asked the plugin again, since its first token was refused.
    await until(asked, (times) => times === 3, 'the second is a candidate');
    expect(leads(two)).toBe(false);
    const metricsOfTwo = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const leadership = 'leader_election_master_status{name="sternpost-controller-manager"}';
    expect(await metricsOfTwo()).toContain(`${leadership} 0\n`);

    one.process.kill('SIGKILL');
    await one.exit;
    const last = await lease();
    await until(
      () => leads(two),
      (yes) => yes,
      'the second leads',
    );
    const next = await lease();
    expect(next.holderIdentity).not.toBe(last.holderIdentity);
    const waited = Date.parse(next.acquireTime ?? '') - Date.parse(last.renewTime ?? '');
    expect(waited).toBeGreaterThan(2900);
    expect(waited).toBeLessThan(15_000);

    expect(two.output()).not.toMatch(/"controllers":\[[^\]]*"serviceaccount"/);
    await client.create('/api/v1/namespaces', { metadata: { name: 'n2' } });
    await until(
      () => client.get('/api/v1/namespaces/n2/configmaps/kube-root-ca.crt'),
      () => true,
      'the root CA',
    );
    const metrics = await metricsOfTwo();
    expect(metrics).toContain(`${leadership} 1\n`);
    expect(metrics).toMatch(/^rest_client_requests_total\{code="201",host="127\.0\.0\.1:\d+",method="POST"\} [1-9]/m);
    expect(metrics).toMatch(/^workqueue_adds_total\{name="root-ca-cert-publisher"\} [1-9]/m);
    await expect(accountIn('n2')()).rejects.toMatchObject({ status: { code: 404 } });

    two.process.kill('SIGTERM');
    await expect(two.exit).resolves.toBe(0);
    expect((await lease()).holderIdentity).toBe('');
    expect(asked()).toBe(3);
    for (const { output } of running) expect(output()).not.toMatch(/managertoken|revokedtoken|PRIVATE KEY|eyJhbGciOi/);
  }, 90_000);
});
