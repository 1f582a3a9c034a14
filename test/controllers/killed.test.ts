import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject, OwnerReference } from '../../src/api/object';
import type { ApiClient, ListOf } from '../../src/client/api-client';
import { adminClient } from '../support/admin-client';
import { until } from '../support/until';

/**
 * A `sternpost controller-manager` that is killed again and again while it collects: in the end the same objects are left.
 * `KILLS=200 npx jest test/controllers/killed` runs for longer.
 */

const HOOK = resolve(__dirname, '../support/typescript-hook.js');
const MAIN = resolve(__dirname, '../../src/cli/main.ts');
const KILLS = Number(process.env.KILLS ?? 4);
const TREES = 6;

let server: ApiServer;
let client: ApiClient;
let folder: string;
let manager: ChildProcess | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-killed-'));
  // The controllers that a test's server has would do what the killed ones left.
  server = await startApiServer({ controllers: ['serviceaccount'] });
  client = adminClient(server);
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig);
  await client.create('/api/v1/namespaces', { metadata: { name: 'ns' } });
}, 30_000);

afterAll(async () => {
  await killManager();
  client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function startManager(): void {
  const argv = [
    'controller-manager',
    '--kubeconfig=kubeconfig',
    '--leader-elect=false',
    '--controllers=garbagecollector',
  ];
  manager = spawn(process.execPath, ['-r', HOOK, MAIN, ...argv], { cwd: folder, stdio: 'ignore' });
}

async function killManager(): Promise<void> {
  if (manager === undefined || manager.exitCode !== null || manager.signalCode !== null) return;
  manager.kill('SIGKILL');
  await once(manager, 'exit');
}

const MAPS = '/api/v1/namespaces/ns/configmaps';

async function map(name: string, owner?: KubeObject): Promise<KubeObject> {
  const references: readonly OwnerReference[] =
    owner === undefined
      ? []
      : [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: owner.metadata.name ?? '',
            uid: owner.metadata.uid ?? '',
            blockOwnerDeletion: true,
          },
        ];
  return client.create(MAPS, { metadata: { name, ownerReferences: references } });
}

/** A root with children and their children, deleted by each policy in turn. */
async function growAndFell(round: number): Promise<readonly string[]> {
  const kept: string[] = [];
  for (let tree = 0; tree < TREES; tree++) {
    const root = await map(`root-${round}-${tree}`);
    const policy = ['Background', 'Foreground', 'Orphan'][tree % 3];
    for (let index = 0; index < 4; index++) {
      const child = await map(`${root.metadata.name}-${index}`, root);
      const leaf = await map(`${child.metadata.name}-leaf`, child);
      if (policy === 'Orphan') kept.push(child.metadata.name ?? '', leaf.metadata.name ?? '');
    }
    await client.delete(`${MAPS}/${root.metadata.name}`, { propagationPolicy: policy });
  }
  return kept;
}

it('leaves no orphan and loses nothing, however often the collector is killed', async () => {
  const kept: string[] = [];
  for (let round = 0; round < KILLS; round++) {
    startManager();
    kept.push(...(await growAndFell(round)));
    // Somewhere between its start and its last deletion.
    await new Promise((done) => setTimeout(done, 300 + Math.random() * 1500));
    await killManager();
  }
  startManager();
  const names = ({ items }: ListOf): readonly string[] => items.map(({ metadata }) => metadata.name ?? '').sort();
  await until(
    () => client.get<ListOf>(MAPS),
    (list) => names(list).join() === [...kept].sort().join(),
    60,
  );
}, 3_600_000);
