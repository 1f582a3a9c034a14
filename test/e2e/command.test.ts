import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ApiClient } from '../../src/client/api-client';
import { load } from 'js-yaml';
import { adminClient } from '../support/admin-client';
import { freePorts } from '../support/free-ports';

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

async function startDev(...more: readonly string[]): Promise<{ readonly dev: Running; readonly port: number }> {
  const dev = start('dev', '--secure-port', '0', '--data-dir', 'data', ...more);
  await until(() => dev.output().includes('kubectl get namespaces'), 'the start');
  const port = Number(/serves https:\/\/127\.0\.0\.1:(\d+)/.exec(dev.output())?.[1]);
  await until(async () => (await status(port, '/readyz')) === 200, 'readiness');
  return { dev, port };
}

describe('sternpost dev', () => {
  it('says in three lines what to type next, and writes a kubeconfig that only its owner may read', async () => {
    const { dev } = await startDev();
    // A busy machine holds the event loop, which the log tells.
    const said = dev
      .output()
      .split('\n')
      .filter((line) => line !== '' && !line.includes('the event loop was held'));
    expect(said).toHaveLength(3);
    const file = join(folder, 'data', 'kubeconfig');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(load(readFileSync(file, 'utf8'))).toMatchObject({ kind: 'Config', 'current-context': 'sternpost' });
  }, 60_000);

  it('shows every request when it is asked to, in lines for readers at a terminal, and says that it stops', async () => {
    const command = [process.execPath, '-r', HOOK, MAIN, 'dev', '--secure-port=0', '--data-dir=data', '--verbose'];
    // A terminal of its own, to which the command's output goes. Without `exec`, some shells stay and die of the signal.
    const terminal = spawn('script', ['-qefc', `exec ${command.map((word) => `'${word}'`).join(' ')}`, '/dev/null'], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let output = '';
    terminal.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const exit = once(terminal, 'exit').then(([code]) => code as number | null);
    running.push({ process: terminal, output: () => output, exit });
    await until(() => output.includes('kubectl get namespaces'), 'the start');
    const port = Number(/https:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]);
    await until(async () => (await status(port, '/readyz')) === 200, 'readiness');
    await until(
      () => /INFO {2}HTTP verb=GET URI=\/readyz latency=\S+ .* resp=200/.test(output),
      'the line of the request',
    );
    expect(output).not.toContain('"level"');
    terminal.stdin.write('\u0003');
    await expect(exit).resolves.toBe(0);
    expect(output).toContain('Stopping (SIGINT); once more ends it at once.');
    expect(output).toContain('Stopped. The data stay in data.');
  }, 60_000);

  it('takes -v as the API server does', async () => {
    const { dev, port } = await startDev('-v', '3');
    await until(async () => (await status(port, '/readyz')) === 200, 'readiness');
    await until(() => dev.output().includes('"URI":"/readyz"'), 'the line of the request');
  }, 60_000);

  it('prints no warning when it starts again with many namespaces, which its controllers look at all at once', async () => {
    const first = await startDev();
    const client = clientOf(first.port);
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
  return { port, client: clientOf(port) };
}

function clientOf(port: number): ApiClient {
  const read = (name: string): string => readFileSync(join(folder, 'data', 'pki', name), 'utf8');
  return new ApiClient({
    url: `https://127.0.0.1:${port}`,
    certificateAuthority: read('ca.crt'),
    clientCertificate: read('admin.crt'),
    clientKey: read('admin.key'),
    userAgent: 'test',
  });
}

describe('sternpost', () => {
  it('names all of its commands', async () => {
    const help = start('--help');
    await expect(help.exit).resolves.toBe(0);
    const names = [...help.output().matchAll(/^ {2}sternpost (\S+)/gm)].map(([, name]) => name);
    expect(names).toEqual([
      'dev',
      'apiserver',
      'controller-manager',
      'kubeconfig',
      'certificates',
      'migrate',
      'compact',
      'rewrite',
      'doctor',
      'version',
      'help',
    ]);
  }, 30_000);

  it('refuses a command that it does not have, and names the one that may have been meant', async () => {
    const refused = start('apisever');
    await expect(refused.exit).resolves.toBe(2);
    expect(refused.output()).toContain('unknown command "apisever" (did you mean apiserver?)');
  }, 30_000);
});

describe('sternpost apiserver', () => {
  it('keeps what it makes for itself in the folder that is named for it, where kubeconfigs come from', async () => {
    const [port = 0] = await freePorts(1);
    const flags = [
      '--bind-address=127.0.0.1',
      '--authorization-mode=RBAC',
      '--data-dir=data',
      '--cert-dir=certificates',
    ];
    start('apiserver', ...flags, `--secure-port=${port}`);
    await until(async () => (await status(port, '/readyz')) === 200, 'readiness');
    expect(readdirSync(join(folder, 'certificates')).sort()).toEqual([
      'admin.crt',
      'admin.key',
      'apiserver.crt',
      'apiserver.key',
      'ca.crt',
      'ca.key',
      'service-account.key',
    ]);
    expect(readdirSync(join(folder, 'data'))).not.toContain('pki');
    const server = `--server=https://127.0.0.1:${port}`;
    const printed = start('kubeconfig', '--cert-dir=certificates', '--user=me', '--group=system:masters', server);
    await expect(printed.exit).resolves.toBe(0);
    const client = adminClient({ url: `https://127.0.0.1:${port}`, kubeconfig: printed.output() });
    await expect(client.get('/api/v1/namespaces/default')).resolves.toMatchObject({ kind: 'Namespace' });
    client.close();
  }, 60_000);

  it('logs every request from -v=3 on, with the names that kube-apiserver gives to its parts', async () => {
    const flags = ['--secure-port=0', '--bind-address=127.0.0.1', '--authorization-mode=RBAC'];
    const [verbose, usual] = await Promise.all(
      ['-v=3', '-v=2'].map(async (level) => {
        const server = start('apiserver', `--data-dir=data${level}`, level, ...flags);
        await until(() => server.output().includes('"serving"'), 'the start');
        const port = Number(/"port":(\d+)/.exec(server.output())?.[1]);
        await until(async () => (await status(port, '/readyz')) === 200, 'readiness');
        await status(port, '/livez?verbose');
        return server;
      }),
    );
    const lines = (server: Running): readonly string[] =>
      server
        .output()
        .split('\n')
        .filter((line) => line.includes('"msg":"HTTP"'));
    await until(() => lines(verbose!).some((line) => line.includes('/livez')), 'the line of the request');
    const { level, verb, URI, latency, srcIP, resp } = JSON.parse(lines(verbose!).at(-1)!) as Record<string, unknown>;
    expect({ level, verb, URI, resp }).toEqual({ level: 'info', verb: 'GET', URI: '/livez?verbose', resp: 200 });
    expect(String(latency)).toMatch(/^\d+\.\d{3}ms$/);
    expect(String(srcIP)).toMatch(/^(::ffff:)?127\.0\.0\.1:\d+$/);
    usual!.process.kill('SIGTERM');
    await usual!.exit;
    expect(usual!.output()).toContain('shutting down');
    expect(lines(usual!)).toEqual([]);
  }, 60_000);

  it('says in one line that its port is taken and what to do, and ends with code 1', async () => {
    const { port } = await startDev();
    const flags = ['--data-dir=other', '--bind-address=127.0.0.1', `--secure-port=${port}`];
    const second = start('apiserver', ...flags);
    await expect(second.exit).resolves.toBe(1);
    const complaints = second
      .output()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('{'));
    expect(complaints).toEqual([
      expect.stringMatching(`^sternpost: port ${port} .* is taken by another process: .*--secure-port`),
    ]);
  }, 60_000);

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
    // It has no time of grace after the start, as livez has.
    await expect(status(port, '/healthz')).resolves.toBe(200);
    await expect(client.get('/api/v1/namespaces/default')).resolves.toMatchObject({ kind: 'Namespace' });
    const types = await watch;
    expect(types).not.toContain('ERROR');
    expect(types).toContain('ADDED');
    client.close();
    await expect(server.exit).resolves.toBe(0);
  }, 60_000);

  it('serves without a place for its log, but is not healthy, and ends when it is told to', async () => {
    const [port = 0] = await freePorts(1);
    const full = openSync('/dev/full', 'w');
    const flags = ['--data-dir=data', '--bind-address=127.0.0.1', '--authorization-mode=RBAC', `--secure-port=${port}`];
    const child = spawn(process.execPath, ['-r', HOOK, MAIN, 'apiserver', ...flags], {
      cwd: folder,
      stdio: ['ignore', 'ignore', full],
    });
    closeSync(full);
    const exit = once(child, 'exit').then(([code]) => code as number | null);
    running.push({ process: child, output: () => '', exit });
    await until(async () => (await status(port, '/healthz?exclude=log')) === 200, 'the start');
    await expect(status(port, '/readyz')).resolves.toBe(500);
    await expect(status(port, '/readyz?exclude=log')).resolves.toBe(200);
    child.kill('SIGTERM');
    await expect(exit).resolves.toBe(0);
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
    ['an unknown flag', ['--secure-prot=1'], 'unknown flag: --secure-prot (did you mean --secure-port?)'],
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
    const server = start(
      'apiserver',
      '--data-dir=data',
      '--secure-port=0',
      '--contention-profiling',
      '--cloud-provider=x',
    );
    await until(() => server.output().includes('"serving"'), 'the start');
    expect(server.output()).toContain('flag --contention-profiling is accepted but has no effect');
  }, 60_000);

  it('explains itself', async () => {
    const help = start('apiserver', '--help');
    await expect(help.exit).resolves.toBe(0);
    expect(help.output()).toContain('--etcd-servers');
  }, 30_000);
});
