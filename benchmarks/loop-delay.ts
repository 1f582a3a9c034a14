#!/usr/bin/env node
/**
 * How long the event loop is held at most while a server with many pods gets the kinds of requests that the end-to-end tests send.
 * Run "npm run build" first. The bound is 50 ms, on a machine that does nothing else.
 *
 *   npx tsx benchmarks/loop-delay.ts [--pods 30000] [--main dist/cli/main.js] [--only PART] [--keep]
 *
 * For each step: the longest delay of the loop that the server says of itself; how much processor time its main thread took at a
 * stretch, at most, which says more where the machine is busy with others; how long V8's longest pause for garbage was; and how long
 * the main thread had to wait for a processor, which is no doing of the server's.
 */
import type { ClientRequest } from 'node:http';
import * as https from 'node:https';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { Target } from './load/job';
import { sternpost } from './servers/api-servers';
import { writeCredentials } from './servers/credentials';
import { definition, pod } from './loop-delay-objects';

const BOUND_MS = 50;
const PODS = '/api/v1/namespaces/default/pods';
const ALL_PODS = '/api/v1/pods';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const WIDGETS = '/apis/bench.example.com/v1/namespaces/default/widgets';
const CREATED_AT_ONCE = 16;
const WATCHERS = 200;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const option = (name: string): string | undefined => {
  const index = process.argv.indexOf(`--${name}`);
  return index < 0 ? undefined : process.argv[index + 1];
};

interface Sent {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: https.Agent;
}

interface Response {
  readonly status: number;
  readonly text: string;
}

class Client {
  #agent = new https.Agent({ keepAlive: true, maxSockets: CREATED_AT_ONCE });
  #watches: ClientRequest[] = [];

  constructor(private readonly target: Target) {}

  send(
    method: string,
    path: string,
    { body, type = 'application/json', accept = 'application/json', headers = {}, agent }: Sent = {},
  ): Promise<Response> {
    const { host, port, token } = this.target;
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = https.request(
        {
          ...{ host, port, method, path, rejectUnauthorized: false, agent: agent ?? this.#agent },
          headers: {
            Authorization: `Bearer ${token}`,
            Accept: accept,
            ...(text === undefined ? {} : { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          const { statusCode: status = 0 } = response;
          const isText = path === '/metrics' || status >= 400;
          response.on('data', (chunk: Buffer) => isText && chunks.push(chunk)).on('error', reject);
          response.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString() }));
        },
      );
      request.on('error', reject).end(text);
    });
  }

  async expect(status: number, method: string, path: string, sent: Sent = {}): Promise<Response> {
    const response = await this.send(method, path, sent);
    if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return response;
  }

  /** Begins a watch and leaves it open. */
  watch(path: string, accept = 'application/json'): Promise<void> {
    const { host, port, token } = this.target;
    return new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}`, Accept: accept };
      const request = https.get({ host, port, path, headers, agent: false, rejectUnauthorized: false }, (response) => {
        response.resume().on('error', () => undefined);
        this.#watches.push(request);
        resolve();
      });
      request.on('error', reject);
    });
  }

  endWatches(): void {
    for (const request of this.#watches.splice(0)) request.on('error', () => undefined).destroy();
  }

  close(): void {
    this.endWatches();
    this.#agent.destroy();
  }
}

const each = async (count: number, atOnce: number, work: (index: number) => Promise<unknown>) => {
  for (let from = 0; from < count; from += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - from) }, (_, index) => work(from + index)));
  }
};

/** What a step does, by its name. */
const steps = (client: Client, pods: number): Readonly<Record<string, () => Promise<unknown>>> => ({
  'create pods': () => each(pods, CREATED_AT_ONCE, (index) => client.expect(201, 'POST', PODS, { body: pod(index) })),
  'list as JSON': () => client.expect(200, 'GET', ALL_PODS),
  'list from memory': () => client.expect(200, 'GET', `${ALL_PODS}?resourceVersion=0`),
  'list compressed': () => client.expect(200, 'GET', ALL_PODS, { headers: { 'Accept-Encoding': 'gzip' } }),
  'list as Protobuf': () => client.expect(200, 'GET', ALL_PODS, { accept: PROTOBUF }),
  'list as a table': () => client.expect(200, 'GET', ALL_PODS, { accept: TABLE }),
  'list as metadata': () => client.expect(200, 'GET', ALL_PODS, { accept: PARTIAL }),
  'list indented': () => client.expect(200, 'GET', `${ALL_PODS}?pretty=1`),
  'list pages': () => each(20, 1, () => client.expect(200, 'GET', `${ALL_PODS}?limit=500`)),
  'list by label': () => client.expect(200, 'GET', `${ALL_PODS}?labelSelector=app%3Dapp-7`),
  'list by node': () => client.expect(200, 'GET', `${ALL_PODS}?fieldSelector=spec.nodeName%3Dnode-7`),
  'list by phase': () => client.expect(200, 'GET', `${ALL_PODS}?fieldSelector=status.phase%3DRunning`),
  'four lists at once': () => each(4, 4, () => client.expect(200, 'GET', ALL_PODS, { accept: TABLE })),
  'watches with initial events': async () => {
    for (const accept of ['application/json', PROTOBUF, TABLE]) await client.watch(`${ALL_PODS}?watch=1`, accept);
    await client.expect(200, 'GET', ALL_PODS);
  },
  'watches of one node each': () =>
    each(WATCHERS, CREATED_AT_ONCE, (index) =>
      client.watch(`${ALL_PODS}?watch=1&resourceVersion=0&fieldSelector=spec.nodeName%3Dnode-${index}`),
    ),
  'patches among watches': () =>
    each(1_000, CREATED_AT_ONCE, (index) =>
      client.expect(200, 'PATCH', `${PODS}/pod-${index}`, {
        type: 'application/strategic-merge-patch+json',
        body: { metadata: { labels: { seen: `at-${index}` } } },
      }),
    ),
  'end of watches': async () => {
    client.endWatches();
    await client.expect(200, 'GET', '/readyz');
  },
  apply: () =>
    each(200, 4, (index) =>
      client.expect(200, 'PATCH', `${PODS}/pod-${index}?fieldManager=bench&force=true`, {
        type: 'application/apply-patch+yaml',
        body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: `pod-${index}`, labels: { applied: 'yes' } } },
      }),
    ),
  'a large object': async () => {
    const data = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`key-${index}`, 'value']));
    await client.expect(201, 'POST', CONFIG_MAPS, { body: { metadata: { name: 'large' }, data } });
    await client.expect(200, 'GET', `${CONFIG_MAPS}/large`, { accept: 'application/yaml' });
    const type = 'application/merge-patch+json';
    await client.expect(200, 'PATCH', `${CONFIG_MAPS}/large`, { type, body: { metadata: { labels: { a: 'b' } } } });
    await client.expect(200, 'DELETE', `${CONFIG_MAPS}/large`);
  },
  'a definition and its objects': async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await client.expect(201, 'POST', definitions, { body: definition });
    for (;;) if ((await client.send('GET', WIDGETS)).status === 200) break;
    await each(500, CREATED_AT_ONCE, (index) =>
      client.expect(201, 'POST', WIDGETS, {
        body: {
          ...{ apiVersion: 'bench.example.com/v1', kind: 'Widget', metadata: { name: `widget-${index}` } },
          spec: { size: index, parts: [{ name: 'a' }] },
        },
      }),
    );
    await client.expect(200, 'DELETE', `${definitions}/${definition.metadata.name}`);
  },
  'discovery and OpenAPI': async () => {
    const paths = ['/apis', '/api/v1', '/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1', '/openapi/v3/apis/apps/v1'];
    for (const path of paths) await client.expect(200, 'GET', path);
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    await client.expect(200, 'GET', '/openapi/v2', { accept });
  },
  'a hundred new connections': () =>
    each(100, 100, () => client.expect(200, 'GET', `${PODS}/pod-1`, { agent: new https.Agent({ maxSockets: 1 }) })),
  'delete a collection': () => client.expect(200, 'DELETE', `${PODS}?labelSelector=app%3Dapp-1&gracePeriodSeconds=0`),
});

/** V8's pauses that were logged since a place in the server's log. */
function longestPauseMs(logFile: string, from: number): { readonly longest: number; readonly end: number } {
  const text = readFileSync(logFile, 'latin1').slice(from);
  let longest = 0;
  for (const [, ms] of text.matchAll(
    /\d+ ms: (?:Scavenge|Mark-Compact)[^\n]*? MB, (?:[^/\n]*?)([\d.]+) \/ [\d.]+ ms/g,
  )) {
    longest = Math.max(longest, Number(ms));
  }
  return { longest, end: from + text.length };
}

/** How long the main thread was ready to run and did not, in milliseconds. */
function waitedMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}

/** What the server's main thread took at a stretch since this was last asked. */
async function stretchMs(pid: number, file: string): Promise<number> {
  const before = linesOf(file).length;
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    const lines = linesOf(file);
    if (lines.length > before) return Number(lines.at(-1));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'latin1').trim().split('\n') : [];
}

/** Reading it sets the longest delay back. */
async function delays(client: Client) {
  const { text } = await client.expect(200, 'GET', '/metrics');
  const longest = Number(/^nodejs_eventloop_delay_max_seconds (\S+)/m.exec(text)?.[1] ?? NaN) * 1_000;
  const buckets = [...text.matchAll(/^nodejs_eventloop_delay_seconds_bucket\{le="([^"]+)"\} (\d+)/gm)];
  return { longest, buckets: buckets.map(([, le, count]) => ({ le, count: Number(count) })) };
}

async function main(): Promise<void> {
  const pods = Number(option('pods') ?? '30000');
  const only = option('only');
  const folder = mkdtempSync(join(tmpdir(), 'sternpost-loop-'));
  const stretches = join(folder, 'stretches');
  process.env['LOOP_STRETCHES'] = stretches;
  // What is loaded into the server is JavaScript.
  const hook = join(folder, 'loop-stretches.js');
  const source = join(__dirname, 'servers/loop-stretches.ts');
  buildSync({ entryPoints: [source], outfile: hook, platform: 'node', format: 'cjs' });
  const options = {
    main: option('main') ?? join(__dirname, '../dist/cli/main.js'),
    nodeArgs: ['--trace-gc', '--require', hook],
  };
  const server = await sternpost(options, { folder, credentials: writeCredentials(folder) }).start('data');
  const client = new Client(server.admin);
  const { pid = 0 } = server.child.process;
  const { logFile } = server.child;
  let worst = 0;
  try {
    const account = '/api/v1/namespaces/default/serviceaccounts';
    await client.send('POST', account, { body: { metadata: { name: 'default' } } });
    let from = longestPauseMs(logFile, 0).end;
    let waited = waitedMs(pid);
    await delays(client);
    await stretchMs(pid, stretches);
    for (const [name, step] of Object.entries(steps(client, pods))) {
      if (only !== undefined && name !== 'create pods' && !name.includes(only)) continue;
      await step();
      const { longest } = await delays(client);
      const stretch = await stretchMs(pid, stretches);
      const pause = longestPauseMs(logFile, from);
      const waitedNow = waitedMs(pid);
      worst = Math.max(worst, longest);
      const figures = [longest, stretch, pause.longest, waitedNow - waited].map((ms) => ms.toFixed(0).padStart(6));
      const names = ['delay', 'stretch', "V8's pause", 'waited in all'];
      process.stdout.write(
        `${name.padEnd(30)}${names.map((what, index) => `${what} ${figures[index] ?? ''} ms`).join('  ')}\n`,
      );
      from = pause.end;
      waited = waitedNow;
    }
    const { buckets } = await delays(client);
    process.stdout.write(
      `looks at the loop, by delay: ${buckets.map(({ le, count }) => `<= ${le ?? ''} s: ${count}`).join(', ')}\n`,
    );
  } finally {
    client.close();
    await server.stop();
    if (process.argv.includes('--keep')) process.stderr.write(`${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(`the longest delay: ${worst.toFixed(0)} ms (bound ${BOUND_MS})\n`);
  if (worst > BOUND_MS) process.exitCode = 1;
}

main().catch((error: Error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exitCode = 1;
});
