import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BINARY = process.env['STERNPOST_ETCD'] ?? '/usr/bin/etcd';
const START_TIMEOUT_MS = 20_000;

/** Whether tests can have an etcd here. STERNPOST_ETCD names the binary; /usr/bin/etcd is the default. */
export const hasEtcd = existsSync(BINARY);

export interface EtcdServerOptions {
  /** Paths of PEM files; the server then wants a certificate from its clients. */
  readonly tls?: { readonly ca: string; readonly certificate: string; readonly key: string };
  readonly flags?: readonly string[];
}

/** An etcd of our own, with its data in a temporary folder, on free ports of the loopback interface. */
export class EtcdServer implements AsyncDisposable {
  #process: ChildProcess | undefined;

  private constructor(
    readonly endpoint: string,
    private readonly folder: string,
    private readonly arguments_: readonly string[],
  ) {}

  static async start(options: EtcdServerOptions = {}): Promise<EtcdServer> {
    const folder = await mkdtemp(join(tmpdir(), 'sternpost-etcd-'));
    const [clientPort, peerPort] = await freePorts(2);
    const client = `${options.tls ? 'https' : 'http'}://127.0.0.1:${clientPort}`;
    const peer = `http://127.0.0.1:${peerPort}`;
    const flags = {
      'data-dir': join(folder, 'data'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
      'log-level': 'error',
      ...(options.tls && {
        'cert-file': options.tls.certificate,
        'key-file': options.tls.key,
        'trusted-ca-file': options.tls.ca,
        'client-cert-auth': 'true',
      }),
    };
    const arguments_ = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    const server = new EtcdServer(client, folder, [...arguments_, ...(options.flags ?? [])]);
    await server.run();
    return server;
  }

  /** Starts the process (again) and waits until it takes connections. */
  async run(): Promise<void> {
    const child = spawn(BINARY, this.arguments_, { stdio: 'ignore' });
    this.#process = child;
    const deadline = Date.now() + START_TIMEOUT_MS;
    const port = Number(new URL(this.endpoint).port);
    while (!(await takesConnections(port))) {
      if (child.exitCode !== null) throw new Error(`etcd ended with code ${child.exitCode}`);
      if (Date.now() > deadline) throw new Error('etcd does not start');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Kills the process; its data stay. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** The process takes no turn any more, and keeps its connections, until {@link resume}. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

async function takesConnections(port: number): Promise<boolean> {
  const { connect } = await import('node:net');
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
