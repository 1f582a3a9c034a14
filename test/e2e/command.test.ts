import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ApiClient } from '../../src/client/api-client';
import { load } from 'js-yaml';

/** The commands as processes of their own, from the sources. */

const HOOK = resolve(__dirname, '../support/typescript-hook.js');
const MAIN = resolve(__dirname, '../../src/cli/main.ts');

interface Running {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly exit: Promise<number | null>;
}

let folder: string;
const running: Running[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-command-'));
});

afterEach(async () => {
  for (const one of running.splice(0)) {
    one.process.kill('SIGKILL');
    await one.exit;
  }
  rmSync(folder, { recursive: true, force: true });
});

function start(...argv: readonly string[]): Running {
  const child = spawn(process.execPath, ['-r', HOOK, MAIN, ...argv], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  const started = { process: child, output: () => output, exit };
  running.push(started);
  return started;
}

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + 50_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} did not happen within 50 seconds`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

function status(port: number, path: string): Promise<number> {
  return new Promise((done) => {
    const request = httpsRequest({ port, path, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      done(response.statusCode ?? 0);
    });
    request.on('error', () => done(0));
    request.end();
  });
}

async function startDev(): Promise<{ readonly dev: Running; readonly port: number }> {
  const dev = start('dev', '--secure-port', '0', '--data-dir', 'data');
  await until(() => dev.output().includes('kubectl get namespaces'), 'the start');
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(dev.output())?.[1]);
  await until(async () => (await status(port, '/readyz')) === 200, 'readiness');
  return { dev, port };
}

describe('sternpost dev', () => {
  it('says in three lines what to type next, and writes a kubeconfig that only its owner may read', async () => {
    const { dev } = await startDev();
    expect(dev.output().trimEnd().split('\n')).toHaveLength(3);
    const file = join(folder, 'data', 'kubeconfig');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(load(readFileSync(file, 'utf8'))).toMatchObject({ kind: 'Config', 'current-context': 'sternpost' });
  }, 60_000);

  it('prints no warning when it starts again with many namespaces, which its controllers look at all at once', async () => {
    const first = await startDev();
    const client = adminClient(first.port);
    for (let index = 0; index < 20; index++) {
      await client.create('/api/v1/namespaces', { metadata: { name: `many-${index}` } });
    }
    const hasAccount = (name: string): Promise<boolean> =>
      client.get(`/api/v1/namespaces/${name}/serviceaccounts/default`).then(
        () => true,
        () => false,
      );
    await until(() => hasAccount('many-19'), 'the last service account');
    client.close();
    first.dev.process.kill('SIGINT');
    await first.dev.exit;
    const second = await startDev();
    await until(async () => (await status(second.port, '/readyz')) === 200, 'readiness');
    second.dev.process.kill('SIGINT');
    await second.dev.exit;
    expect([first.dev.output(), second.dev.output()]).not.toContainEqual(expect.stringContaining('Warning'));
  }, 60_000);

  it('refuses a data directory that another process has, and leaves that one in peace', async () => {
    const { port } = await startDev();
    const second = start('dev', '--secure-port', '0', '--data-dir', 'data');
    await expect(second.exit).resolves.toBe(1);
    expect(second.output()).toMatch(/in use by process \d+/);
    await expect(status(port, '/readyz')).resolves.toBe(200);
  }, 60_000);
});

/** The port of an API server on `data/`, once it is ready, and a client with the administrator's certificate. */
async function whenReady(server: Running): Promise<{ readonly port: number; readonly client: ApiClient }> {
  await until(() => server.output().includes('"serving"'), 'the start');
  const port = Number(/"port":(\d+)/.exec(server.output())?.[1]);
  await until(async () => (await status(port, '/readyz')) === 200, 'readiness');
  return { port, client: adminClient(port) };
}

function adminClient(port: number): ApiClient {
  const read = (name: string): string => readFileSync(join(folder, 'data', 'pki', name), 'utf8');
  return new ApiClient({
    url: `https://127.0.0.1:${port}`,
    certificateAuthority: read('ca.crt'),
    clientCertificate: read('admin.crt'),
    clientKey: read('admin.key'),
    userAgent: 'test',
  });
}

describe('sternpost apiserver', () => {
  it('fails readyz first when it is told to end, ends watches cleanly, and leaves with code 0', async () => {
    const server = start(
      'apiserver',
      '--data-dir',
      'data',
      '--secure-port',
      '0',
      '--bind-address',
      '127.0.0.1',
      '--authorization-mode',
      'RBAC',
      '--shutdown-delay-duration',
      '1500ms',
    );
    const { port, client } = await whenReady(server);
    const watch = (async () => {
      const types: string[] = [];
      for await (const event of client.watch('/api/v1/namespaces?watch=true', new AbortController().signal)) {
        types.push(event.type);
      }
      return types;
    })();
    await new Promise((done) => setTimeout(done, 300));

    server.process.kill('SIGTERM');
    await until(async () => (await status(port, '/readyz')) === 500, 'readyz failing');
    await expect(status(port, '/livez')).resolves.toBe(200);
    await expect(client.get('/api/v1/namespaces/default')).resolves.toMatchObject({ kind: 'Namespace' });
    const types = await watch;
    expect(types).not.toContain('ERROR');
    expect(types).toContain('ADDED');
    client.close();
    await expect(server.exit).resolves.toBe(0);
  }, 60_000);

  it('forgets events after the time that it is told', async () => {
    const flags = ['--secure-port=0', '--bind-address=127.0.0.1', '--authorization-mode=RBAC', '--event-ttl=1s'];
    const { client } = await whenReady(start('apiserver', '--data-dir=data', ...flags));
    const events = '/api/v1/namespaces/default/events';
    const involvedObject = { kind: 'ConfigMap', namespace: 'default', name: 'a' };
    await client.create(events, { apiVersion: 'v1', kind: 'Event', metadata: { name: 'a' }, involvedObject });
    const exists = (): Promise<boolean> =>
      client.get(`${events}/a`).then(
        () => true,
        () => false,
      );
    await expect(exists()).resolves.toBe(true);
    await until(async () => !(await exists()), 'the end of the event');
    client.close();
  }, 60_000);

  it('serves an alpha version while it is switched on, and what was written in it also later', async () => {
    const flags = ['--data-dir=data', '--secure-port=0', '--bind-address=127.0.0.1', '--authorization-mode=RBAC'];
    const alpha = '/apis/node.k8s.io/v1alpha1';
    const on = start('apiserver', ...flags, '--runtime-config=api/alpha=true');
    const { client } = await whenReady(on);
    const metadata = { name: 'sandbox' };
    const spec = { runtimeHandler: 'h', overhead: { podFixed: { cpu: '250m' } } };
    await expect(client.create(`${alpha}/runtimeclasses`, { metadata, spec })).resolves.toMatchObject({ spec });
    await expect(client.get(`${alpha}/runtimeclasses`)).resolves.toMatchObject({ items: [{ spec }] });
    client.close();
    on.process.kill('SIGTERM');
    await on.exit;

    const { client: later } = await whenReady(start('apiserver', ...flags));
    await expect(later.get(alpha)).rejects.toThrow('the server could not find the requested resource');
    await expect(later.get('/apis/node.k8s.io')).resolves.toMatchObject({ versions: [{ version: 'v1' }, {}] });
    await expect(later.get('/apis/node.k8s.io/v1/runtimeclasses/sandbox')).resolves.toMatchObject({
      handler: 'h',
      overhead: spec.overhead,
    });
    later.close();
  }, 60_000);

  it('takes what its feature gates allow', async () => {
    const flags = ['--secure-port=0', '--bind-address=127.0.0.1', '--authorization-mode=RBAC'];
    const gates = ['--feature-gates=ProcMountType=true,MixedProtocolLBService=true'];
    const metadata = { name: 'a' };
    const service = {
      metadata,
      spec: {
        type: 'LoadBalancer',
        ports: ['TCP', 'UDP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol })),
      },
    };
    const containers = [{ name: 'c', image: 'i', securityContext: { procMount: 'Unmasked' } }];
    const template = { metadata, template: { metadata: {}, spec: { containers } } };
    const services = '/api/v1/namespaces/default/services';
    const templates = '/api/v1/namespaces/default/podtemplates';
    const procMount = ['template', 'spec', 'containers', 0, 'securityContext', 'procMount'];

    const usual = start('apiserver', '--data-dir=data', ...flags);
    const before = await whenReady(usual);
    await expect(before.client.create(services, service)).rejects.toMatchObject({
      status: { code: 422, details: { causes: [{ field: 'spec.ports' }] } },
    });
    await expect(before.client.create(`${templates}?dryRun=All`, template)).resolves.toHaveProperty(
      procMount,
      'Default',
    );
    before.client.close();
    usual.process.kill('SIGTERM');
    await usual.exit;

    const gated = await whenReady(start('apiserver', '--data-dir=data', ...flags, ...gates));
    await expect(gated.client.create(services, service)).resolves.toMatchObject({ kind: 'Service' });
    await expect(gated.client.create(templates, template)).resolves.toHaveProperty(procMount, 'Unmasked');
    gated.client.close();
  }, 60_000);

  it.each([
    ['an unknown flag', ['--nosuch'], 'unknown flag: --nosuch'],
    ['an unknown authorizer', ['--authorization-mode=Magic'], 'Magic'],
    [
      'a version that is none',
      ['--runtime-config=batch/v9=true'],
      'group version batch/v9 that has not been registered',
    ],
    ['half a certificate', ['--tls-cert-file=a.crt'], '--tls-private-key-file'],
  ])(
    'refuses %s with exit code 2 and a word of help',
    async (_, argv, message) => {
      const server = start('apiserver', ...argv);
      await expect(server.exit).resolves.toBe(2);
      expect(server.output()).toContain(message);
    },
    30_000,
  );

  it('takes flags of kube-apiserver that it has no use for with a warning', async () => {
    const server = start('apiserver', '--data-dir=data', '--secure-port=0', '--profiling=false', '--cloud-provider=x');
    await until(() => server.output().includes('"serving"'), 'the start');
    expect(server.output()).toContain('flag --profiling is accepted but has no effect');
  }, 60_000);

  it('explains itself', async () => {
    const help = start('apiserver', '--help');
    await expect(help.exit).resolves.toBe(0);
    expect(help.output()).toContain('--etcd-servers');
  }, 30_000);
});
