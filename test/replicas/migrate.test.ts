import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../src/storage/embedded/embedded-store';
import { openEtcdStore } from '../../src/storage/etcd/etcd-store';
import { EtcdServer, describeWithEtcd } from '../support/etcd-server';
import { buildServer } from './support/built-server';
import { freePorts } from '../support/free-ports';
import { HttpClient, type Json } from './support/http-client';
import { credentialsOf, ServerProcess } from './support/server-process';

async function migrate(...flags: readonly string[]): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn(process.execPath, [buildServer(), 'migrate', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  await once(child, 'close');
  return { code: child.exitCode, output, errors };
}

/** What a client sees, without what is of one store only. */
async function seenBy(http: HttpClient): Promise<readonly (readonly object[])[]> {
  const without = ({ metadata, ...rest }: Json): object => ({
    ...rest,
    metadata: { ...metadata, resourceVersion: '' },
  });
  const paths = [
    '/api/v1/configmaps',
    '/api/v1/namespaces',
    '/api/v1/services',
    '/api/v1/events',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ];
  return Promise.all(paths.map(async (path) => (await http.send('GET', path)).body.items.map(without)));
}

describeWithEtcd('sternpost migrate', () => {
  it('moves a cluster from the embedded store to etcd and back', async () => {
    await using etcd = await EtcdServer.start();
    const folder = await mkdtemp(join(tmpdir(), 'sternpost-migrate-'));
    try {
      const [port] = await freePorts(1);
      const [here, back] = [join(folder, 'here'), join(folder, 'back')];
      const serving = async (
        dataDir: string,
        flags: readonly string[],
        use: (http: HttpClient) => Promise<void>,
      ): Promise<void> => {
        await using server = new ServerProcess({
          dataDir,
          port: port!,
          flags: ['--advertise-address=127.0.0.1', ...flags],
        });
        await server.start();
        using http = new HttpClient(port!, credentialsOf(dataDir));
        await use(http);
        expect(await server.kill('SIGTERM')).toBe(0);
      };
      let before: Awaited<ReturnType<typeof seenBy>> = [];
      await serving(here, [], async (http) => {
        for (let i = 0; i < 20; i++)
          await http.send('POST', '/api/v1/namespaces/default/configmaps', {
            metadata: { name: `map-${i}` },
            data: { i: String(i) },
          });
        const involvedObject = { kind: 'Pod', namespace: 'default', name: 'a' };
        await http.send('POST', '/api/v1/namespaces/default/events', {
          metadata: { name: 'a' },
          involvedObject,
          lastTimestamp: new Date().toISOString().slice(0, 19) + 'Z',
        });
        before = await seenBy(http);
        expect(before[3]).toHaveLength(1);
      });
      const there = await migrate(`--from=${here}`, `--to=${etcd.endpoint}`);
      expect(there).toMatchObject({ code: 0, output: expect.stringContaining('are the same in both stores') });
      expect(there.errors).toContain('(100%)');
      expect(await migrate(`--from=${here}`, `--to=${etcd.endpoint}`)).toMatchObject({
        code: 0,
        output: expect.stringContaining('0 written'),
      });
      await serving(here, [`--etcd-servers=${etcd.endpoint}`], async (http) => {
        expect(await seenBy(http)).toEqual(before);
      });
      expect(await migrate(`--from=${etcd.endpoint}`, `--to=${back}`)).toMatchObject({ code: 0 });
      // The authority of clients is published in the registry: another one would show.
      await cp(join(here, 'pki'), join(back, 'pki'), { recursive: true });
      await serving(back, [], async (http) => {
        expect(await seenBy(http)).toEqual(before);
      });
      expect(await migrate('--from=x')).toMatchObject({
        code: 2,
        errors: expect.stringContaining('--to must be given'),
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 90_000);

  it('never empties a store for a source that is none, nor makes one', async () => {
    await using etcd = await EtcdServer.start();
    const folder = await mkdtemp(join(tmpdir(), 'sternpost-migrate-'));
    const keys = async (end: string): Promise<number> => {
      const store = end.startsWith('http')
        ? await openEtcdStore({ endpoints: [end] })
        : await openEmbeddedStore({ path: join(end, 'registry.mdb') });
      const outcome = await store.list({ prefix: '/registry/' });
      await store.close();
      return outcome.ok ? outcome.items.length : NaN;
    };
    try {
      const [full, typo, empty] = [join(folder, 'full'), join(folder, 'typo'), join(folder, 'empty')];
      const store = await openEmbeddedStore({ path: join(full, 'registry.mdb') });
      for (let i = 0; i < 20; i++) await store.create(`/registry/secrets/default/s-${i}`, Buffer.from('secret'));
      await store.close();
      expect(await migrate(`--from=${full}`, `--to=${etcd.endpoint}`)).toMatchObject({ code: 0 });

      for (const to of [etcd.endpoint, full]) {
        const missing = await migrate(`--from=${typo}`, `--to=${to}`, '--prune', '--yes');
        expect(missing).toMatchObject({
          code: 2,
          errors: expect.stringContaining(`${typo}/registry.mdb does not exist`),
        });
        expect(existsSync(typo)).toBe(false);
        await keys(empty);
        const nothing = await migrate(`--from=${empty}`, `--to=${to}`, '--prune', '--yes');
        expect(nothing).toMatchObject({ code: 1, errors: expect.stringContaining('the source holds no key') });
        expect(await keys(to)).toBe(20);
      }
      const elsewhere = await migrate(
        `--from=${etcd.endpoint}`,
        `--to=${full}`,
        '--etcd-prefix=/typo',
        '--prune',
        '--yes',
      );
      expect(elsewhere).toMatchObject({ code: 1, errors: expect.stringContaining('no key below /typo/') });
      expect(await keys(full)).toBe(20);

      const few = await openEmbeddedStore({ path: join(empty, 'registry.mdb') });
      await few.create('/registry/secrets/default/s-0', Buffer.from('secret'));
      await few.close();
      const most = await migrate(`--from=${empty}`, `--to=${etcd.endpoint}`, '--prune');
      expect(most.code).toBe(1);
      expect(most.errors).toContain('--prune deletes 19 of 20 keys of the destination: 19 secrets');
      expect(most.errors).toContain('--yes');
      expect(await keys(etcd.endpoint)).toBe(20);
      expect(await migrate(`--from=${empty}`, `--to=${etcd.endpoint}`, '--prune', '--yes')).toMatchObject({ code: 0 });
      expect(await keys(etcd.endpoint)).toBe(1);
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 90_000);
});
