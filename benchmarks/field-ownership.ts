#!/usr/bin/env node
/**
 * What field ownership costs: PUT, merge PATCH and APPLY of a Deployment of 2 kB on a server that keeps owners, against the
 * same writes on one that does not (--feature-gates ServerSideApply=false; what is applied is a merge patch there). Counted
 * is the server's processor time for a request. Run "npm run build" first; `--dist` names another build. The bound is 1.5.
 */
import * as https from 'node:https';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dist } from './built';
import { freePorts } from '../test/support/free-ports';
import { median } from './report/statistics';
import { Child } from './servers/child';
import { ADMIN_TOKEN, writeCredentials, type Credentials } from './servers/credentials';

const BOUND = 1.5;
const BYTES = 2000;
const WARM_UP = 1500;
const ROUNDS = 5;
const WRITES_PER_ROUND = 1000;
const CONNECTIONS = 8;
const READY_MS = 120_000;

const COLLECTION = '/apis/apps/v1/namespaces/default/deployments';

/** Of 2 kB as clients send it; `value` makes the difference between two writes. */
type Kind = 'PUT' | 'PATCH' | 'APPLY';
type Write = (
  name: string,
  value: string,
  owned: boolean,
) => readonly [method: string, query: string, contentType: string, body: object];

function deployment(name: string, value: string): object {
  const env: object[] = [];
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { app: name, value } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: ['web', 'proxy'].map((container, position) => ({
            name: container,
            image: `registry.example.com/${container}:1`,
            ports: [{ name: container, containerPort: 8080 + position }],
            resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
            env: position === 0 ? env : [],
          })),
        },
      },
    },
  };
  while (JSON.stringify(object).length < BYTES) {
    env.push({ name: `VARIABLE_${env.length}`, value: 'x'.repeat(20) });
  }
  return object;
}

const WRITES: Readonly<Record<Kind, Write>> = {
  PUT: (name, value) => ['PUT', '', 'application/json', deployment(name, value)],
  PATCH: (_name, value) => ['PATCH', '', 'application/merge-patch+json', { metadata: { labels: { value } } }],
  APPLY: (name, value, owned) => [
    'PATCH',
    owned ? '?fieldManager=bench' : '',
    owned ? 'application/apply-patch+yaml' : 'application/merge-patch+json',
    deployment(name, value),
  ],
};

class Server {
  readonly agent = new https.Agent({ keepAlive: true, maxSockets: CONNECTIONS, rejectUnauthorized: false });

  static async start(folder: string, owned: boolean, credentials: Credentials): Promise<Server> {
    const [port = 0] = await freePorts(1);
    const name = owned ? 'owned' : 'unowned';
    const child = Child.start(
      process.execPath,
      [
        ...[join(dist, 'cli', 'main.js'), 'apiserver', '--data-dir', join(folder, name)],
        ...['--secure-port', String(port), '--bind-address', '127.0.0.1'],
        ...['--token-auth-file', credentials.tokenFile, '--authorization-mode', 'Node,RBAC'],
        ...['--feature-gates', `ServerSideApply=${owned}`],
      ],
      join(folder, `${name}.log`),
    );
    const server = new Server(child, port, owned);
    await child.until(async () => (await server.send('GET', '/readyz')).status === 200, READY_MS);
    return server;
  }

  private constructor(
    readonly child: Child,
    private readonly port: number,
    private readonly owned: boolean,
  ) {}

  send(
    method: string,
    path: string,
    contentType?: string,
    body?: object,
  ): Promise<{ readonly status: number | undefined; readonly body: string }> {
    const headers = {
      Authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(contentType === undefined ? {} : { 'Content-Type': contentType }),
    };
    return new Promise((done, fail) => {
      const request = https.request(
        { host: '127.0.0.1', port: this.port, method, path, headers, agent: this.agent },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', fail);
          response.on('end', () => done({ status: response.statusCode, body: Buffer.concat(chunks).toString() }));
        },
      );
      request.on('error', fail);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Writes to as many objects as there are connections. Resolves to the microseconds of processor time for each write. */
  async write(kind: Kind, count: number): Promise<number> {
    let next = 0;
    const before = this.child.cpuSeconds();
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, connection) => {
        const name = `${kind.toLowerCase()}-${connection}`;
        while (next < count) {
          const [method, query, contentType, body] = WRITES[kind](name, `v${next++}`, this.owned);
          const { status, body: text } = await this.send(method, `${COLLECTION}/${name}${query}`, contentType, body);
          if (status !== 200) throw new Error(`${kind}: ${status ?? 0} ${text}`);
        }
      }),
    );
    return ((this.child.cpuSeconds() - before) * 1e6) / count;
  }

  async prepare(kind: Kind): Promise<void> {
    for (let connection = 0; connection < CONNECTIONS; connection++) {
      const name = `${kind.toLowerCase()}-${connection}`;
      const applied = this.owned && kind === 'APPLY';
      const { status, body } = applied
        ? await this.send(
            'PATCH',
            `${COLLECTION}/${name}?fieldManager=bench`,
            'application/apply-patch+yaml',
            deployment(name, 'v'),
          )
        : await this.send('POST', COLLECTION, 'application/json', deployment(name, 'v'));
      if (status !== 201) throw new Error(`create: ${status ?? 0} ${body}`);
      if (body.includes('managedFields') !== this.owned) throw new Error('managed fields are not as they should be');
    }
    await this.write(kind, WARM_UP);
  }
}

/** The two servers take turns, so that what else the machine does meets both. */
async function compare(kind: Kind, owned: Server, unowned: Server): Promise<number> {
  await owned.prepare(kind);
  await unowned.prepare(kind);
  const rounds = { owned: [] as number[], unowned: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    rounds.owned.push(await owned.write(kind, WRITES_PER_ROUND));
    rounds.unowned.push(await unowned.write(kind, WRITES_PER_ROUND));
  }
  const ratio = median(rounds.owned) / median(rounds.unowned);
  const show = (values: readonly number[]) =>
    `${median(values).toFixed(0)} us (${values.map((one) => one.toFixed(0)).join(' ')})`;
  process.stdout.write(
    `${kind.padEnd(5)} ${ratio.toFixed(2)} times: ${show(rounds.owned)} with owners, ${show(rounds.unowned)} without\n`,
  );
  return ratio;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sternpost-ownership-'));
  const credentials = writeCredentials(folder);
  const servers: Server[] = [];
  try {
    const start = async (isOwned: boolean) => {
      const server = await Server.start(folder, isOwned, credentials);
      servers.push(server);
      return server;
    };
    const owned = await start(true);
    const unowned = await start(false);
    for (const kind of ['PUT', 'PATCH', 'APPLY'] as const) {
      if ((await compare(kind, owned, unowned)) > BOUND) process.exitCode = 1;
    }
  } finally {
    for (const { child, agent } of servers) {
      agent.destroy();
      await child.stop();
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
