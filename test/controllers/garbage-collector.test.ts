import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject, OwnerReference } from '../../src/api/object';
import type { ApiClient } from '../../src/client/api-client';
import { adminClient } from '../support/admin-client';
import { Kubectl } from '../support/kubectl';
import { exists, until } from '../support/until';

/** The garbage collector of a control plane in one process, against its real server. */

let server: ApiServer;
let client: ApiClient;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startApiServer();
  client = adminClient(server);
  kubectl = new Kubectl(server.kubeconfig);
  for (const name of ['ns', 'other']) await client.create('/api/v1/namespaces', { metadata: { name } });
}, 30_000);

afterAll(async () => {
  client.close();
  kubectl.remove();
  await server.stop();
});

const MAPS = '/api/v1/namespaces/ns/configmaps';
const mapPath = (name: string): string => `${MAPS}/${name}`;

interface Extra {
  readonly finalizers?: readonly string[];
}

function map(name: string, owners: readonly object[] = [], extra: Extra = {}): Promise<KubeObject> {
  return client.create(MAPS, { metadata: { name, ownerReferences: owners, ...extra } });
}

function ownedBy(
  { metadata: { name = '', uid = '' } }: KubeObject,
  more: Partial<OwnerReference> = {},
): OwnerReference {
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more };
}

const isThere = (name: string): Promise<boolean> => exists(() => client.get(mapPath(name)));
const untilGone = (...names: readonly string[]): Promise<unknown> =>
  Promise.all(
    names.map((name) =>
      until(
        () => isThere(name),
        (there) => !there,
      ),
    ),
  );
const deleteMap = (name: string, propagationPolicy: string): Promise<unknown> =>
  client.delete(mapPath(name), { propagationPolicy });

/** The collector has looked at everything that came before: a dependent of an owner that never was is gone. */
async function passed(): Promise<void> {
  const uid = `00000000-0000-4000-8000-${String(Math.random()).slice(2, 14).padEnd(12, '0')}`;
  const name = `passing-${uid.slice(-12)}`;
  await map(name, [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid }]);
  await untilGone(name);
}

describe('deletion in the background', () => {
  it('takes a whole tree along', async () => {
    const root = await map('root');
    const child = await map('child', [ownedBy(root)]);
    await map('grandchild', [ownedBy(child)]);
    await deleteMap('root', 'Background');
    await untilGone('root', 'child', 'grandchild');
  });

  it('leaves what another owner keeps, without the reference to the one that is gone', async () => {
    const first = await map('first-owner');
    const second = await map('second-owner');
    await map('kept', [ownedBy(first), ownedBy(second)]);
    await deleteMap('first-owner', 'Background');
    const kept = await until(
      () => client.get(mapPath('kept')),
      ({ metadata }) => metadata.ownerReferences?.length === 1,
    );
    expect(kept.metadata.ownerReferences?.[0]?.uid).toBe(second.metadata.uid);
  });

  it('takes what names an owner that never was, whichever of two dependents names it right', async () => {
    const owner = await map('real');
    await map('wrong-name', [ownedBy(owner, { name: 'unreal' })]);
    await map('right-name', [ownedBy(owner)]);
    await untilGone('wrong-name');
    await passed();
    await expect(isThere('right-name')).resolves.toBe(true);
    await expect(isThere('real')).resolves.toBe(true);
  });
});

describe('an owner in another namespace', () => {
  it('is none, and an event says so', async () => {
    const owner = await map('here');
    await client.create('/api/v1/namespaces/other/configmaps', {
      metadata: { name: 'there', ownerReferences: [ownedBy(owner)] },
    });
    await until(
      () => exists(() => client.get('/api/v1/namespaces/other/configmaps/there')),
      (there) => !there,
    );
    const { items } = await until(
      () => client.get<{ items: readonly KubeObject[] }>('/api/v1/namespaces/other/events'),
      ({ items }) => items.length > 0,
    );
    expect(items[0]).toMatchObject({
      reason: 'OwnerRefInvalidNamespace',
      message:
        `ownerRef [v1/ConfigMap, namespace: other, name: here, uid: ${owner.metadata.uid}] ` +
        'does not exist in namespace "other"',
    });
    await expect(isThere('here')).resolves.toBe(true);
  });

  it('does not make anybody delete what is in no namespace', async () => {
    const owner = await map('in-namespace');
    const path = '/api/v1/persistentvolumes';
    await client.create(path, {
      metadata: { name: 'volume', ownerReferences: [ownedBy(owner)] },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp' } },
    });
    await deleteMap('in-namespace', 'Background');
    await untilGone('in-namespace');
    await passed();
    await expect(exists(() => client.get(`${path}/volume`))).resolves.toBe(true);
  });
});

describe('deletion in the foreground', () => {
  it('waits for the dependents that block it, and for no others', async () => {
    const owner = await map('waiting');
    await map('blocking', [ownedBy(owner, { blockOwnerDeletion: true })], { finalizers: ['example.com/hold'] });
    await map('free', [ownedBy(owner)], { finalizers: ['example.com/hold'] });
    await deleteMap('waiting', 'Foreground');
    for (const name of ['blocking', 'free']) {
      await until(
        () => client.get(mapPath(name)),
        ({ metadata }) => metadata.deletionTimestamp != null,
      );
    }
    await passed();
    await expect(isThere('waiting')).resolves.toBe(true);
    await client.patch(mapPath('blocking'), 'merge', { metadata: { finalizers: null } });
    await untilGone('waiting', 'blocking');
    await expect(isThere('free')).resolves.toBe(true);
    await client.patch(mapPath('free'), 'merge', { metadata: { finalizers: null } });
  });

  it('takes along dependents that come while it waits', async () => {
    const owner = await map('crowded');
    await map('early', [ownedBy(owner, { blockOwnerDeletion: true })], { finalizers: ['example.com/hold'] });
    await deleteMap('crowded', 'Foreground');
    await until(
      () => client.get(mapPath('early')),
      ({ metadata }) => metadata.deletionTimestamp != null,
    );
    await map('late', [ownedBy(owner, { blockOwnerDeletion: true })]);
    await passed();
    await client.patch(mapPath('early'), 'merge', { metadata: { finalizers: null } });
    await untilGone('crowded', 'early', 'late');
  });

  it('goes on when the last one that blocks does so no longer', async () => {
    const owner = await map('blocked');
    await map('blocker', [ownedBy(owner, { blockOwnerDeletion: true })], { finalizers: ['example.com/hold'] });
    await deleteMap('blocked', 'Foreground');
    await until(
      () => client.get(mapPath('blocker')),
      ({ metadata }) => metadata.deletionTimestamp != null,
    );
    await client.patch(mapPath('blocker'), 'merge', { metadata: { ownerReferences: [ownedBy(owner)] } });
    await untilGone('blocked');
    await client.patch(mapPath('blocker'), 'merge', { metadata: { finalizers: null } });
  });

  it('ends in a circle of owners', async () => {
    const one = await map('circle-one');
    const two = await map('circle-two', [ownedBy(one, { blockOwnerDeletion: true })]);
    const three = await map('circle-three', [ownedBy(two, { blockOwnerDeletion: true })]);
    await client.patch(mapPath('circle-one'), 'merge', {
      metadata: { ownerReferences: [ownedBy(three, { blockOwnerDeletion: true })] },
    });
    await deleteMap('circle-one', 'Foreground');
    await untilGone('circle-one', 'circle-two', 'circle-three');
  });

  it('ends for `kubectl delete --cascade=foreground`', async () => {
    const owner = await map('by-kubectl');
    await map('by-kubectl-child', [ownedBy(owner, { blockOwnerDeletion: true })]);
    const { code, stderr } = await kubectl.run([
      '-n',
      'ns',
      'delete',
      'configmap',
      'by-kubectl',
      '--cascade=foreground',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await expect(isThere('by-kubectl-child')).resolves.toBe(false);
  }, 30_000);
});

describe('deletion of an owner alone', () => {
  it('lets the dependents go and leaves them', async () => {
    const owner = await map('parting');
    await map('orphan-one', [ownedBy(owner)]);
    await map('orphan-two', [ownedBy(owner, { blockOwnerDeletion: true })]);
    await deleteMap('parting', 'Orphan');
    await untilGone('parting');
    await passed();
    for (const name of ['orphan-one', 'orphan-two']) {
      expect((await client.get(mapPath(name))).metadata.ownerReferences ?? []).toEqual([]);
    }
  });

  it('ends for `kubectl delete --cascade=orphan`', async () => {
    const owner = await map('left');
    await map('left-child', [ownedBy(owner)]);
    const { code, stderr } = await kubectl.run(['-n', 'ns', 'delete', 'configmap', 'left', '--cascade=orphan']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await expect(isThere('left-child')).resolves.toBe(true);
  }, 30_000);
});

describe('custom resources', () => {
  const definition = {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === 'v2',
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      })),
    },
  };
  const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const THINGS = '/apis/example.com/v1/namespaces/ns/things';
  const thing = (name: string, owners: readonly object[] = []): Promise<KubeObject> =>
    until(
      () =>
        client.create(THINGS, {
          apiVersion: 'example.com/v1',
          kind: 'Thing',
          metadata: { name, ownerReferences: owners },
        }),
      () => true,
    );
  const ofThing = ({ metadata: { name = '', uid = '' } }: KubeObject, apiVersion = 'example.com/v1'): object => ({
    apiVersion,
    kind: 'Thing',
    name,
    uid,
  });

  it('own and are owned, in any version, also when their kind has been away', async () => {
    await client.create(DEFINITIONS, definition);
    const owner = await thing('owner');
    await thing('owned', [ofThing(owner)]);
    for (const version of ['v1', 'v2']) await map(`of-${version}`, [ofThing(owner, `example.com/${version}`)]);
    await map('of-v3', [ofThing(owner, 'example.com/v3')]);
    await passed();
    for (const name of ['of-v1', 'of-v2', 'of-v3']) await expect(isThere(name)).resolves.toBe(true);

    await client.delete(`${THINGS}/owner`, { propagationPolicy: 'Background' });
    await untilGone('of-v1', 'of-v2');
    await until(
      () => exists(() => client.get(`${THINGS}/owned`)),
      (there) => !there,
    );
    // Nobody knows version v3: its owner may be there.
    await expect(isThere('of-v3')).resolves.toBe(true);

    await client.delete(`${DEFINITIONS}/things.example.com`);
    await until(
      () => exists(() => client.get(THINGS)),
      (there) => !there,
    );
    await until(
      () => client.create(DEFINITIONS, definition),
      () => true,
    );
    const again = await thing('owner');
    await map('of-again', [ofThing(again)]);
    await client.delete(`${THINGS}/owner`, { propagationPolicy: 'Foreground' });
    await untilGone('of-again');
    await until(
      () => exists(() => client.get(`${THINGS}/owner`)),
      (there) => !there,
    );
  }, 60_000);
});
