import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildServer } from './built-server';

const START_TIMEOUT_MS = 30_000;
const PROBE_TIMEOUT_MS = 4_000;
const SABOTAGE = join(__dirname, '..', '..', 'support', 'sabotage.js');

/** What a client needs to be an administrator of servers that share a data directory. */
export interface Credentials {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

export function credentialsOf(dataDir: string): Credentials {
  const read = (name: string): Buffer => readFileSync(join(dataDir, 'pki', name));
  return { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') };
}

export interface ServerProcessOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly flags: readonly string[];
  /** Of Node.js. */
  readonly nodeFlags?: readonly string[];
  /** The file of the command of another build; absent: that of the sources. */
  readonly command?: string | undefined;
}

/** `sternpost apiserver` in a process of its own, on loopback. */
export class ServerProcess implements AsyncDisposable {
  #child: ChildProcess | undefined;
  #command: string | undefined;
  #log = '';

  constructor(private readonly options: ServerProcessOptions) {
    this.#command = options.command;
  }

  /** Runs the sources when it is started next. */
  upgrade(): void {
    this.#command = undefined;
  }

  get port(): number {
    return this.options.port;
  }

  /** What it has written since it was started last. */
  get log(): string {
    return this.#log;
  }

  /** Starts the process (again), with a bug of sabotage.js if one is named; resolves when it is ready. */
  async start(options: { readonly bug?: string } = {}): Promise<void> {
    this.launch(options);
    await this.untilReady();
  }

  untilReady(): Promise<void> {
    return this.#until(() => this.isReady(), 'become ready');
  }

  /** It has made the files of its data directory, and takes connections. */
  untilServing(): Promise<void> {
    return this.#until(() => this.#log.includes('"msg":"serving"'), 'serve');
  }

  async #until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await isSo())) {
      if (this.#child?.exitCode !== null) throw new Error(`the server ended: ${this.#log}`);
      if (Date.now() > deadline) throw new Error(`the server does not ${what}: ${this.#log}`);
      await delay(20);
    }
  }

  /** Starts the process without waiting. */
  launch({ bug }: { readonly bug?: string } = {}): void {
    const { dataDir, port, flags, nodeFlags = [] } = this.options;
    const arguments_ = [
      ...nodeFlags,
      ...(bug === undefined ? [] : ['--require', SABOTAGE]),
      this.#command ?? buildServer(),
      'apiserver',
      `--data-dir=${dataDir}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      '--authorization-mode=RBAC',
      ...flags,
    ];
    this.#log = '';
    const env = { ...process.env, ...(bug !== undefined && { STERNPOST_TEST_BUG: bug }) };
    const child = spawn(process.execPath, arguments_, { stdio: ['ignore', 'pipe', 'pipe'], env });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#log = (this.#log + text).slice(-100_000)));
    }
    this.#child = child;
  }

  async isReady(): Promise<boolean> {
    return (await this.probe('/readyz')) === 200;
  }

  /** The status of an anonymous GET; 0 when nobody answers in time. Health checks are open to all. */
  async probe(path: string, timeoutMs?: number): Promise<number> {
    return (await this.check(path, timeoutMs)).status;
  }

  /** The same with what the answer says. */
  check(path: string, timeoutMs = PROBE_TIMEOUT_MS): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve) => {
      const agent = new Agent({ keepAlive: false });
      const options = {
        host: '127.0.0.1',
        port: this.port,
        path,
        agent,
        rejectUnauthorized: false,
        timeout: timeoutMs,
      };
      const probe = request(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (data: string) => (text += data));
        response.on('close', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      probe.on('timeout', () => probe.destroy());
      probe.on('error', () => resolve({ status: 0, text: '' }));
      probe.end();
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return child.exitCode;
  }

  /** Waits until the process has ended by itself. */
  async untilEnd(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
