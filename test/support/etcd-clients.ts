import { openChannelEndpoint, type OpenEndpoint } from '../../src/storage/etcd/endpoint';
import { openEtcd3Endpoint } from '../../src/storage/etcd3/etcd3-endpoint';

/** What `--etcd-client` offers. */
export const etcdClients: readonly (readonly [name: string, openEndpoint: OpenEndpoint])[] = [
  ['our own client', openChannelEndpoint],
  ['etcd3', openEtcd3Endpoint],
];
