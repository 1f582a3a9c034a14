import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describeWithEtcd } from '../support/etcd-server';
import { until } from '../support/until';
import { buildServer } from './support/built-server';
import { Cluster } from './support/cluster';
import type { HttpClient } from './support/http-client';

const run = promisify(execFile);
const SECRETS = '/api/v1/namespaces/default/secrets';
const NAMES = ['a', 'b', 'c', 'd'];
const RELOADS = 'apiserver_encryption_config_controller_automatic_reloads_total{status="success"}';

const key = (name: string): object => ({ name, secret: randomBytes(32).toString('base64') });

describeWithEtcd('keys of encryption at rest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sternpost-rotation-'));
  const file = join(folder, 'encryption.json');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** As a whole, so that nobody reads half of it. */
  function configure(...keys: readonly object[]): void {
    const resources = [{ resources: ['secrets'], providers: [{ aescbc: { keys } }] }];
    const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
    writeFileSync(`${file}.new`, JSON.stringify({ ...kind, resources }));
    renameSync(`${file}.new`, file);
  }

  it('are replaced while replicas serve, and nobody is without a secret', async () => {
    const [old, fresh] = [key('old'), key('fresh')];
    configure(old);
    const flags = [`--encryption-provider-config=${file}`, '--encryption-provider-config-automatic-reload'];
    await using cluster = await Cluster.start({ replicas: 2, flags });
    const clients = cluster.replicas.map((_, index) => cluster.client(index));
    cluster.defer(async () => clients.forEach((client) => client[Symbol.dispose]()));
    const data = { password: Buffer.from('very secret').toString('base64') };
    for (const name of NAMES) await clients[0]!.send('POST', SECRETS, { metadata: { name }, data });

    // Both replicas are written to and read from all the time.
    const refusals: unknown[] = [];
    const stop = new AbortController();
    const working = clients.map((client) => work(client, stop.signal, refusals));
    let changes = 0;
    const everywhere = async (...keys: readonly object[]): Promise<void> => {
      configure(...keys);
      changes++;
      for (const client of clients) {
        await until(
          () => client.text('/metrics'),
          (text) => text.includes(`${RELOADS} ${changes}\n`),
          30,
        );
      }
    };
    const keysInUse = async (): Promise<readonly (string | undefined)[]> => {
      const list = await cluster.store.list({ prefix: '/registry/secrets/default/' });
      return list.ok ? list.items.map(({ value }) => value.toString('latin1', 0, 64).split(':')[4]) : [];
    };

    await everywhere(old, fresh);
    await everywhere(fresh, old);
    const etcd = ['--etcd-servers', cluster.etcd.endpoint];
    await run(process.execPath, [buildServer(), 'rewrite', '--encryption-provider-config', file, ...etcd]);
    expect(new Set(await keysInUse())).toEqual(new Set(['fresh']));
    await everywhere(fresh);
    await delay(200);
    stop.abort();
    await Promise.all(working);
    expect(refusals).toEqual([]);

    // Whoever has never known the old one finds everything.
    await cluster.replicas[1]!.kill('SIGTERM');
    await cluster.replicas[1]!.start();
    for (const name of NAMES) {
      expect((await clients[1]!.send('GET', `${SECRETS}/${name}`)).body.data).toEqual(data);
    }
  }, 120_000);
});

async function work(client: HttpClient, signal: AbortSignal, refusals: unknown[]): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    const path = `${SECRETS}/${NAMES[round % (NAMES.length - 1)]}`;
    const label = { metadata: { labels: { round: String(round), by: String(client.port) } } };
    for (const { status, body } of [
      await client.send('PATCH', path, label, 'application/merge-patch+json'),
      await client.send('GET', path),
      await client.send('GET', SECRETS),
    ]) {
      if (status !== 200) refusals.push(body);
    }
    await delay(10);
  }
}
