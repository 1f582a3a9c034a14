import { openEtcdStore } from '../../src/storage/etcd/etcd-store';
import { openEtcd3Endpoint } from '../../src/storage/etcd3/etcd3-endpoint';
import { EtcdServer, hasEtcd } from '../support/etcd-server';
import { describeStore } from './store';

if (hasEtcd) {
  let server: EtcdServer;

  beforeAll(async () => {
    server = await EtcdServer.start();
  }, 30_000);

  afterAll(async () => {
    await server.stop();
  });

  describeStore('the etcd store', async () => {
    const store = await openEtcdStore({ endpoints: [server.endpoint] });
    return { store, close: () => store.close() };
  });

  describeStore('the etcd store below a prefix', async () => {
    const store = await openEtcdStore({ endpoints: [server.endpoint], prefix: '/tenant' });
    return { store, close: () => store.close() };
  });

  describeStore('the etcd store over etcd3', async () => {
    const store = await openEtcdStore({ endpoints: [server.endpoint], openEndpoint: openEtcd3Endpoint });
    return { store, close: () => store.close() };
  });
} else {
  it.todo('needs etcd: set STERNPOST_ETCD to its binary');
}
