import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject } from '../../src/api/object';
import type { ApiClient } from '../../src/client/api-client';
import { adminClient } from '../support/admin-client';
import { exists, until } from '../support/until';

/** Namespaces that are deleted, by the controllers of a control plane in one process. */

let server: ApiServer;
let client: ApiClient;

beforeAll(async () => {
  server = await startApiServer();
  client = adminClient(server);
}, 30_000);

afterAll(async () => {
  client.close();
  await server.stop();
});

interface Namespace extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

const badOnes = ({ status }: Namespace): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (status?.conditions ?? []).filter((one) => one.status === 'True').map(({ type, message }) => [type, message]),
  );

it('a namespace says what holds it up, no longer says so when that is gone, and waits for finalizers of its own', async () => {
  const path = '/api/v1/namespaces/held';
  await client.create('/api/v1/namespaces', {
    metadata: { name: 'held' },
    spec: { finalizers: ['kubernetes', 'example.com/own'] },
  });
  const map = `${path}/configmaps/map`;
  await client.create(`${path}/configmaps`, { metadata: { name: 'map', finalizers: ['example.com/hold'] } });
  await client.delete(path);
  const held = await until(
    () => client.get<Namespace>(path),
    (namespace) => 'NamespaceFinalizersRemaining' in badOnes(namespace),
  );
  expect(badOnes(held)).toEqual({
    NamespaceContentRemaining: 'Some resources are remaining: configmaps. has 1 resource instances',
    NamespaceFinalizersRemaining:
      'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
  });
  await client.patch(map, 'merge', { metadata: { finalizers: null } });
  const emptied = await until(
    () => client.get<Namespace>(path),
    ({ spec }) => !(spec as { readonly finalizers: readonly string[] }).finalizers.includes('kubernetes'),
  );
  expect(badOnes(emptied)).toEqual({});
  await client.update(`${path}/finalize`, { ...emptied, spec: { finalizers: [] } });
  await until(
    () => exists(() => client.get(path)),
    (there) => !there,
  );
});
