import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../support/free-ports';

const BINARY = process.env['STERNPOST_HAPROXY'] ?? '/usr/sbin/haproxy';
const CONFIGURATION = resolve(__dirname, '../../deploy/balancers/haproxy-tcp.cfg');
const START_TIMEOUT_MS = 10_000;

/** `.ci/run` installs Debian's; STERNPOST_HAPROXY names another one. */
export const hasHaproxy = existsSync(BINARY);

/** An HAProxy with the configuration of `deploy/`, to replicas on ports of this machine. */
export class Haproxy implements AsyncDisposable {
  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  static async start(ports: readonly number[], healthPorts: readonly number[]): Promise<Haproxy> {
    const [port = 0] = await freePorts(1);
    const folder = mkdtempSync(join(tmpdir(), 'sternpost-haproxy-'));
    const configuration = readFileSync(CONFIGURATION, 'utf8')
      .replace('bind :6443', `bind 127.0.0.1:${port}`)
      .replaceAll(/sternpost-(\d):6443 port 10256/g, (_all, digit: string) => {
        const index = Number(digit) - 1;
        return `127.0.0.1:${ports[index]} port ${healthPorts[index]}`;
      });
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configuration);
    const haproxy = new Haproxy(port, spawn(BINARY, ['-db', '-f', file], { stdio: 'ignore' }), folder);
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await takesConnections(port))) {
      if (Date.now() > deadline || haproxy.child.exitCode !== null) throw new Error('haproxy does not start');
      await delay(50);
    }
    return haproxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => done(true)).once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });
}
