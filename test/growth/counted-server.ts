import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiserverCommand } from '../../src/cli/apiserver-command';
import { PLUGINS } from '../../src/admission/plugin-table';
import { freePorts } from '../support/free-ports';

/** Plugins that need a peer, or that refuse everything. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'AlwaysDeny',
  'ImagePolicyWebhook',
  'DenyServiceExternalIPs',
  'EventRateLimit',
]);
/** Of `system:masters`, and of nobody else. */
const USERS = ['admin,admin,1,system:masters', 'user,user,2'];
const READY_MS = 60_000;

export interface Response {
  readonly status: number;
  readonly text: string;
}

export interface Sent {
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Absent: `admin`. */
  readonly as?: 'admin' | 'user';
}

/** A request that is ready to be sent: what is counted is not how it was made. */
export type Prepared = () => Promise<Response>;

/** The whole API server in this process, with every admission plugin that works alone. */
export class CountedServer {
  private readonly agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  private constructor(
    private readonly port: number,
    private readonly folder: string,
  ) {}

  static async start(): Promise<CountedServer> {
    const folder = mkdtempSync(join(tmpdir(), 'sternpost-growth-'));
    const tokens = join(folder, 'tokens.csv');
    writeFileSync(tokens, USERS.map((line) => `${line}\n`).join(''));
    const [port = 0] = await freePorts(1);
    const plugins = PLUGINS.filter((one) => !('unsupported' in one) && !LEFT_OUT.has(one.name));
    void apiserverCommand([
      `--data-dir=${join(folder, 'data')}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--token-auth-file=${tokens}`,
      '--authorization-mode=Node,RBAC',
      `--enable-admission-plugins=${plugins.map(({ name }) => name).join()}`,
    ]);
    const server = new CountedServer(port, folder);
    await server.readiness();
    return server;
  }

  /** The process has to be ended by whoever started it: its server ends with it. */
  cleanUp(): void {
    this.agent.destroy();
    rmSync(this.folder, { recursive: true, force: true });
  }

  prepare(
    method: string,
    path: string,
    { body, type = 'application/json', headers, as = 'admin' }: Sent = {},
  ): Prepared {
    const bytes = body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const sent = {
      authorization: `Bearer ${as}`,
      ...(bytes === undefined ? {} : { 'content-type': type, 'content-length': String(bytes.length) }),
      ...headers,
    };
    return () =>
      new Promise((resolve, reject) => {
        const { port, agent } = this;
        const request = httpsRequest({ host: '127.0.0.1', port, agent, method, path, headers: sent }, (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('error', reject);
          response.on('end', () => {
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() });
          });
        });
        request.on('error', reject);
        request.end(bytes);
      });
  }

  /** Creates what a subject needs; what is there already is as good. */
  async create(path: string, body: unknown): Promise<void> {
    const { status, text } = await this.prepare('POST', path, { body })();
    if (status !== 201 && status !== 409) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`);
  }

  private async readiness(): Promise<void> {
    const end = Date.now() + READY_MS;
    const ask = this.prepare('GET', '/readyz');
    for (;;) {
      const { status } = await ask().catch(() => ({ status: 0 }));
      if (status === 200) return;
      if (Date.now() > end) throw new Error('the server did not become ready');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
