import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-ports';

const BINARY = process.env['STERNPOST_ETCD'] ?? '/usr/bin/etcd';
const START_TIMEOUT_MS = 20_000;
const CONNECT_TIMEOUT_MS = 1_000;

/** Whether tests can have an etcd here. STERNPOST_ETCD names the binary; /usr/bin/etcd is the default. */
export const hasEtcd = existsSync(BINARY);

/** Skips where there is no etcd, so that the other tests run anywhere; `.ci/run` installs one first, and skips none. */
export const describeWithEtcd = hasEtcd ? describe : describe.skip;

export interface EtcdServerOptions {
  /** Paths of PEM files; the server then wants a certificate from its clients. */
  readonly tls?: { readonly ca: string; readonly certificate: string; readonly key: string };
  readonly flags?: readonly string[];
  /** Its place in a cluster of several; alone by default. */
  readonly member?: EtcdMember;
}

export interface EtcdMember {
  readonly name: string;
  readonly clientPort: number;
  readonly peerPort: number;
  /** Of all members, as `--initial-cluster` wants it. */
  readonly cluster: string;
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
    const { name, clientPort, peerPort, cluster } = options.member ?? (await lonelyMember());
    const client = `${options.tls ? 'https' : 'http'}://127.0.0.1:${clientPort}`;
    const peer = `http://127.0.0.1:${peerPort}`;
    const flags = {
      name,
      'data-dir': join(folder, 'data'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': cluster,
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

async function lonelyMember(): Promise<EtcdMember> {
  const [clientPort, peerPort] = (await freePorts(2)) as [number, number];
  return { name: 'alone', clientPort, peerPort, cluster: `alone=http://127.0.0.1:${peerPort}` };
}

async function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: CONNECT_TIMEOUT_MS });
    socket.on('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => undefined).on('close', () => resolve(false));
  });
}
