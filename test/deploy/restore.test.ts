import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject } from '../../src/api/object';
import { adminClient } from '../support/admin-client';
import { EtcdServer, hasEtcd, type EtcdMember } from '../support/etcd-server';
import { freePorts } from '../support/free-ports';
import { exists } from '../support/until';

/** `.ci/run` installs Debian's. */
const ETCDCTL = '/usr/bin/etcdctl';
const PATH = '/api/v1/namespaces/default/configmaps';

const describeRestore = hasEtcd && existsSync(ETCDCTL) ? describe : describe.skip;

function etcdctl(...argv: readonly string[]): string {
  return execFileSync(ETCDCTL, argv, { env: { ...process.env, ETCDCTL_API: '3' }, stdio: 'pipe', encoding: 'utf8' });
}

async function serve(etcd: EtcdServer, dataDir: string): Promise<ApiServer> {
  return startApiServer({ dataDir, flags: { 'etcd-servers': [etcd.endpoint] } });
}

describeRestore('an etcd that is restored from a snapshot (docs/restore.md)', () => {
  it('has what it had then, and goes on from there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sternpost-restore-'));
    const [clientPort = 0, peerPort = 0] = await freePorts(2);
    const peer = `http://127.0.0.1:${peerPort}`;
    const member: EtcdMember = { name: 'alone', clientPort, peerPort, cluster: `alone=${peer}` };
    const snapshot = join(folder, 'snapshot.db');
    const restored = join(folder, 'restored');
    try {
      {
        await using etcd = await EtcdServer.start({ member });
        await using server = await serve(etcd, folder);
        const client = adminClient(server);
        await client.create(PATH, { metadata: { name: 'before' }, data: { a: 'b' } });
        etcdctl(`--endpoints=${etcd.endpoint}`, 'snapshot', 'save', snapshot);
        await client.create(PATH, { metadata: { name: 'after' } });
        await client.delete(`${PATH}/before`);
        client.close();
      }
      etcdctl(
        'snapshot',
        'restore',
        snapshot,
        `--data-dir=${restored}`,
        `--name=${member.name}`,
        `--initial-cluster=${member.cluster}`,
        `--initial-advertise-peer-urls=${peer}`,
      );
      await using etcd = await EtcdServer.start({ member, flags: [`--data-dir=${restored}`] });
      await using server = await serve(etcd, folder);
      const client = adminClient(server);
      expect(await client.get(`${PATH}/before`)).toMatchObject({ data: { a: 'b' } });
      expect(await exists(() => client.get(`${PATH}/after`))).toBe(false);
      const { metadata } = await client.get<{ metadata: { resourceVersion: string } }>(PATH);
      const watching = new AbortController();
      const events = client.watch(`${PATH}?watch=true&resourceVersion=${metadata.resourceVersion}`, watching.signal);
      const first = events.next();
      const created = await client.create<KubeObject>(PATH, { metadata: { name: 'later' } });
      expect(await first).toMatchObject({ value: { type: 'ADDED', object: created } });
      watching.abort();
      await events.return(undefined).catch(() => undefined);
      client.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 60_000);
});
