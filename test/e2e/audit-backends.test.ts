import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startApiServer } from '../../src';
import { RawClient } from '../support/raw-client';
import { until } from '../support/until';
import { caBundle, WebhookBackend, type ReceivedCall } from '../support/webhook-backend';

/** What becomes of requests and of the audit log when the server is killed, or those who keep its events are slow or full. */

const MAPS = '/api/v1/namespaces/default/configmaps';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const HOOK = resolve(__dirname, '../support/typescript-hook.js');
const MAIN = resolve(__dirname, '../../src/cli/main.ts');

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'audit-backends-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, content: object): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

function policyFile(...rules: readonly object[]): string {
  return written('policy.yaml', { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules });
}

/** The events that were lost in a part of the server, as its metric counts them. */
async function lost(client: RawClient, plugin: string): Promise<number> {
  const { text } = await client.sendText('GET', '/metrics', undefined, null, 'text/plain');
  return Number(new RegExp(`^apiserver_audit_error_total\\{plugin="${plugin}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

describe('the log of a server that is killed', () => {
  /** Gets something again and again until the connection breaks. Resolves to the ids of the responses. */
  async function askUntilBroken(port: number, agent: Agent): Promise<readonly string[]> {
    const ids: string[] = [];
    for (;;) {
      const id = await new Promise<string | undefined>((done) => {
        const request = httpsRequest({ port, path: MAPS, rejectUnauthorized: false, agent }, (response) => {
          response.resume().on('end', () => done(String(response.headers['audit-id'])));
          response.on('error', () => done(undefined));
        });
        request.on('error', () => done(undefined)).end();
      });
      if (id === undefined) return ids;
      ids.push(id);
    }
  }

  it.each(['batch', 'blocking', 'blocking-strict'])(
    'has whole lines but for the last one, in every file: mode %s',
    async (mode) => {
      const log = join(folder, 'audit.log');
      const flags = ['--data-dir=data', '--secure-port=0', '--bind-address=127.0.0.1', '--authorization-mode=RBAC'];
      const auditing = [`--audit-policy-file=${policyFile({ level: 'Metadata' })}`, `--audit-log-path=${log}`];
      const child = spawn(
        process.execPath,
        ['-r', HOOK, MAIN, 'apiserver', ...flags, ...auditing, `--audit-log-mode=${mode}`, '--audit-log-maxsize=1'],
        { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
      );
      const agent = new Agent({ keepAlive: true, maxSockets: 16 });
      try {
        let output = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
        const port = await until(
          () => Promise.resolve(Number(/"port":(\d+)[^\n]*"msg":"serving"/.exec(output)?.[1])),
          (value) => value > 0,
          50,
        );
        const asking = Array.from({ length: 16 }, () => askUntilBroken(port, agent));
        const files = () => readdirSync(folder).filter((name) => name.startsWith('audit'));
        // Replaced once, and in the middle of the next one.
        await until(
          () => Promise.resolve(files().length),
          (count) => count > 1,
          50,
        );
        child.kill('SIGKILL');
        await once(child, 'exit');
        const ids = (await Promise.all(asking)).flat();
        const received = new Set<string>();
        for (const name of files()) {
          const lines = readFileSync(join(folder, name), 'utf8').split('\n');
          // What follows the last line's end: nothing, or a part of one.
          lines.pop();
          for (const line of lines) received.add((JSON.parse(line) as { readonly auditID: string }).auditID);
        }
        expect(received.size).toBeGreaterThan(500);
        // Written before the request goes on: what was answered is there.
        if (mode === 'blocking-strict') expect(ids.filter((id) => !received.has(id))).toEqual([]);
      } finally {
        agent.destroy();
        child.kill('SIGKILL');
      }
    },
    120_000,
  );
});

describe('a disk without space', () => {
  // The device that refuses every write as a full disk does.
  const FULL = '/dev/full';

  it.each([
    ['batch', 201],
    ['blocking', 201],
    ['blocking-strict', 500],
  ])(
    'mode %s: a create is answered %i, and what is lost is counted',
    async (mode, expected) => {
      const rules = [{ level: 'Metadata', verbs: ['create'], resources: [{ group: '', resources: ['configmaps'] }] }];
      const flags = { 'audit-policy-file': policyFile(...rules), 'audit-log-path': FULL, 'audit-log-mode': mode };
      const server = await startApiServer({ flags });
      const client = new RawClient(server);
      try {
        const { status } = await client.sendText('POST', MAPS, JSON.stringify({ metadata: { name: 'a' } }));
        expect(status).toBe(expected);
        await until(
          () => lost(client, 'log'),
          (count) => count > 0,
        );
      } finally {
        client.close();
        await server.stop();
      }
    },
    60_000,
  );
});

describe('a webhook that answers nothing', () => {
  /** Keeps all responses back until it lets them go. */
  class SlowSink {
    readonly received: number[] = [];
    #held: ServerResponse[] | undefined = [];

    readonly behave = (call: ReceivedCall, response: ServerResponse): void => {
      const { items } = call.review as unknown as { readonly items: readonly object[] };
      this.received.push(items.length);
      if (this.#held === undefined) response.end();
      else this.#held.push(response);
    };

    get isHolding(): boolean {
      return (this.#held?.length ?? 0) > 0;
    }

    letGo(): void {
      for (const response of this.#held ?? []) response.end();
      this.#held = undefined;
    }
  }

  async function withSink(
    more: Readonly<Record<string, string>>,
    test: (client: RawClient, sink: SlowSink) => Promise<void>,
  ): Promise<void> {
    await using backend = await WebhookBackend.start();
    const sink = new SlowSink();
    const { url } = backend.clientConfig('/audit', sink.behave);
    const cluster = { server: url, 'certificate-authority-data': caBundle() };
    const kubeconfig = written('sink.kubeconfig', {
      clusters: [{ name: 'sink', cluster }],
      contexts: [{ name: 'sink', context: { cluster: 'sink' } }],
      'current-context': 'sink',
    });
    // No controller creates any.
    const leases = { group: 'coordination.k8s.io', resources: ['leases'] };
    const rule = { level: 'Request', verbs: ['create'], resources: [leases] };
    const flags = { 'audit-policy-file': policyFile(rule), 'audit-webhook-config-file': kubeconfig, ...more };
    const server = await startApiServer({ flags });
    const client = new RawClient(server);
    try {
      await test(client, sink);
    } finally {
      sink.letGo();
      client.close();
      await server.stop();
    }
  }

  const create = (client: RawClient, name: string) =>
    client.send('POST', `${LEASES}?dryRun=All`, JSON.stringify({ metadata: { name } }));

  it('holds up no request in mode batch, and what does not fit into the buffer is counted', async () => {
    const sizes = { 'audit-webhook-batch-buffer-size': '20', 'audit-webhook-batch-max-size': '5' };
    await withSink({ ...sizes, 'audit-webhook-batch-throttle-enable': 'false' }, async (client, sink) => {
      const requests = 200;
      for (let index = 0; index < requests; index += 1) expect((await create(client, `m${index}`)).status).toBe(201);
      // None of them has had an answer from it.
      expect(sink.isHolding).toBe(true);
      const dropped = await until(
        () => lost(client, 'buffered'),
        (count) => count > 0,
      );
      sink.letGo();
      // Two events a request: each is sent or counted, and none is both.
      const sent = () => Promise.resolve(sink.received.reduce((sum, count) => sum + count, 0));
      await until(sent, (count) => count + dropped >= 2 * requests);
      expect(sink.received.reduce((sum, count) => sum + count, 0) + dropped).toBe(2 * requests);
    });
  }, 60_000);

  it('holds up the request in mode blocking', async () => {
    await withSink({ 'audit-webhook-mode': 'blocking' }, async (client, sink) => {
      let isAnswered = false;
      const answered = create(client, 'm').then(({ status }) => {
        isAnswered = true;
        return status;
      });
      await until(
        () => Promise.resolve(sink.isHolding),
        (isHolding) => isHolding,
      );
      // Others go on meanwhile: what they are about is not recorded.
      for (let index = 0; index < 20; index += 1) await client.send('GET', MAPS);
      expect(isAnswered).toBe(false);
      sink.letGo();
      await expect(answered).resolves.toBe(201);
      expect(sink.received).toEqual([1, 1]);
    });
  }, 60_000);
});
