import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
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
 * A `sternpost controller-manager` that is killed again and again while it works: in the end there is what there would be without.
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
  server = await startApiServer({ controllers: [] });
  client = adminClient(server);
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
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
    '--service-account-private-key-file=sa.key',
  ];
  manager = spawn(process.execPath, ['-r', HOOK, MAIN, ...argv], { cwd: folder, stdio: 'ignore' });
}

async function killManager(): Promise<void> {
  if (manager === undefined || manager.exitCode !== null || manager.signalCode !== null) return;
  manager.kill('SIGKILL');
  await once(manager, 'exit');
}

const MAPS = '/api/v1/namespaces/ns/configmaps';
const ACCOUNTS = '/api/v1/namespaces/ns/serviceaccounts';

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

/** An account that stays, one that is made anew, and a namespace that goes. */
async function liveAndDie(round: number): Promise<readonly string[]> {
  const accounts = [`stays-${round}`, `reborn-${round}`];
  const [, reborn = ''] = accounts;
  for (const name of accounts) await client.create(ACCOUNTS, { metadata: { name } });
  const namespace = `goes-${round}`;
  await client.create('/api/v1/namespaces', { metadata: { name: namespace } });
  await client.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'map' } });
  await client.delete(`/api/v1/namespaces/${namespace}`);
  await client.delete(`${ACCOUNTS}/${reborn}`);
  await client.create(ACCOUNTS, { metadata: { name: reborn } });
  return accounts;
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

interface Account extends KubeObject {
  readonly secrets?: readonly { readonly name: string }[];
}

/** Sorted: the accounts, and for each token secret the account that names it. */
async function accountsAndSecrets(): Promise<readonly string[]> {
  const { items: accounts } = await client.get<ListOf<Account>>(ACCOUNTS);
  const { items: secrets } = await client.get<ListOf>('/api/v1/namespaces/ns/secrets');
  const accountOf = (secret: KubeObject): string => {
    const uid = secret.metadata.annotations?.['kubernetes.io/service-account.uid'];
    const account = accounts.find(({ metadata }) => metadata.uid === uid);
    const isNamed = account?.secrets?.some(({ name }) => name === secret.metadata.name) === true;
    return `${isNamed ? (account.metadata.name ?? '') : 'nobody'} names a secret`;
  };
  return [...accounts.map(({ metadata }) => metadata.name ?? ''), ...secrets.map(accountOf)].sort();
}

it('leaves no orphan and loses nothing, however often the controllers are killed', async () => {
  const kept: string[] = ['kube-root-ca.crt'];
  const accounts: string[] = ['default'];
  for (let round = 0; round < KILLS; round++) {
    startManager();
    const [maps, names] = await Promise.all([growAndFell(round), liveAndDie(round)]);
    kept.push(...maps);
    accounts.push(...names);
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
  const wanted = accounts.flatMap((name) => [name, `${name} names a secret`]).sort();
  await until(accountsAndSecrets, (found) => found.join() === wanted.join(), 60);
  await until(
    () => client.get<ListOf>('/api/v1/namespaces'),
    (list) => !names(list).some((name) => name.startsWith('goes-')),
    60,
  );
}, 3_600_000);
