import { openTemporaryStore, type TemporaryStore } from '../../test/support/cache-fixture';
import { MasterLeases } from './master-leases';

const signal = new AbortController().signal;

describe('master leases', () => {
  let temporary: TemporaryStore;
  let leases: MasterLeases;

  beforeEach(async () => {
    temporary = await openTemporaryStore();
    leases = new MasterLeases(temporary.store, '/registry/');
  });

  afterEach(() => temporary[Symbol.asyncDispose]());

  it('are kept as kube-apiserver keeps them, and change with each renewal', async () => {
    await leases.renew('192.0.2.1', signal);
    await leases.renew('192.0.2.1', signal);
    const stored = await temporary.store.get('/registry/masterleases/192.0.2.1');
    expect(JSON.parse(stored!.value.toString())).toEqual({
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: { generation: 2, creationTimestamp: null },
      subsets: [{ addresses: [{ ip: '192.0.2.1' }] }],
    });
  });

  it('list the live servers, those of kube-apiserver too', async () => {
    await leases.renew('192.0.2.2', signal);
    await temporary.store.create('/registry/masterleases/192.0.2.1', Buffer.from('k8s\0...'));
    expect(await leases.list(signal)).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  it('take over what another kind of server left under the same address', async () => {
    await temporary.store.create('/registry/masterleases/192.0.2.1', Buffer.from('k8s\0...'));
    await leases.renew('192.0.2.1', signal);
    expect((await temporary.store.get('/registry/masterleases/192.0.2.1'))?.value.toString()).toContain(
      '"generation":1',
    );
  });

  it('are renewed by several processes of one replica at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => leases.renew('192.0.2.1', signal)));
    expect((await temporary.store.get('/registry/masterleases/192.0.2.1'))?.value.toString()).toContain(
      '"generation":8',
    );
  });

  it('can be given up, once', async () => {
    await leases.renew('192.0.2.1', signal);
    await leases.remove('192.0.2.1', signal);
    await leases.remove('192.0.2.1', signal);
    expect(await leases.list(signal)).toEqual([]);
  });
});
