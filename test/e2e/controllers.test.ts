import { startApiServer, type ApiServer } from '../../src';
import type { ApiClient } from '../../src/client/api-client';
import { adminClient } from '../support/admin-client';
import { runAsLeader } from '../../src/client/leader-election';
import type { KubeObject } from '../../src/api/object';

/** The controllers of access, against a real server that runs them. */

let server: ApiServer;
let client: ApiClient;

beforeAll(async () => {
  server = await startApiServer();
  client = adminClient(server);
  await client.create('/api/v1/namespaces', { metadata: { name: 'ns' } });
}, 30_000);

afterAll(async () => {
  client.close();
  await server.stop();
});

async function until<T>(read: () => Promise<T>, good: (value: T) => boolean): Promise<T> {
  for (const end = Date.now() + 10_000; ;) {
    const value = await read().catch(() => undefined);
    if (value !== undefined && good(value)) return value;
    if (Date.now() > end) throw new Error(`it did not happen: ${JSON.stringify(value)}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
const get = (path: string) => () => client.get(path);
const NS = '/api/v1/namespaces/ns';

interface Account extends KubeObject {
  readonly secrets?: readonly { readonly name: string }[];
}

async function tokenSecretOf(account: string): Promise<KubeObject> {
  const { secrets = [] } = await until(
    () => client.get<Account>(`${NS}/serviceaccounts/${account}`),
    (found) => (found.secrets ?? []).length > 0,
  );
  return client.get(`${NS}/secrets/${secrets[0]?.name ?? ''}`);
}

async function reviewOf(token: string): Promise<object | undefined> {
  const review = await client.create<{ readonly status: { readonly user?: object } }>(
    '/apis/authentication.k8s.io/v1/tokenreviews',
    { spec: { token } },
  );
  return review.status.user;
}
const tokenIn = ({ data }: KubeObject): string =>
  Buffer.from((data as Record<string, string>).token ?? '', 'base64').toString();

describe('a namespace', () => {
  it('gets its default account and the root CA, and gets them back', async () => {
    const map = await until(get(`${NS}/configmaps/kube-root-ca.crt`), () => true);
    expect(map.data).toEqual({ 'ca.crt': expect.stringContaining('BEGIN CERTIFICATE') });
    await until(get(`${NS}/serviceaccounts/default`), () => true);
    await client.update(`${NS}/configmaps/kube-root-ca.crt`, { ...map, data: { 'ca.crt': 'mine' } });
    await until(
      get(`${NS}/configmaps/kube-root-ca.crt`),
      ({ data }) => JSON.stringify(data) === JSON.stringify(map.data),
    );
    await client.delete(`${NS}/configmaps/kube-root-ca.crt`);
    await client.delete(`${NS}/serviceaccounts/default`);
    await until(get(`${NS}/configmaps/kube-root-ca.crt`), () => true);
    await until(get(`${NS}/serviceaccounts/default`), () => true);
  });
});

describe('a service account', () => {
  it('gets a token secret, which is good until the account goes', async () => {
    await client.create(`${NS}/serviceaccounts`, { metadata: { name: 'robot' } });
    const secret = await tokenSecretOf('robot');
    await expect(reviewOf(tokenIn(secret))).resolves.toMatchObject({ username: 'system:serviceaccount:ns:robot' });
    await client.delete(`${NS}/serviceaccounts/robot`);
    await until(
      () =>
        client.get(`${NS}/secrets/${secret.metadata.name ?? ''}`).then(
          () => false,
          () => true,
        ),
      (gone) => gone,
    );
  });

  it('gets another token secret when its own is deleted', async () => {
    await client.create(`${NS}/serviceaccounts`, { metadata: { name: 'second' } });
    const { metadata } = await tokenSecretOf('second');
    await client.delete(`${NS}/secrets/${metadata.name ?? ''}`);
    await until(
      () => client.get<Account>(`${NS}/serviceaccounts/second`),
      ({ secrets = [] }) => secrets.length === 1 && secrets[0]?.name !== metadata.name,
    );
  });

  it('that is made anew has a token secret of its own, and that of the one before goes', async () => {
    const accounts = `${NS}/serviceaccounts`;
    const create = () => client.create(accounts, { metadata: { name: 'reborn' } });
    await create();
    const first = await tokenSecretOf('reborn');
    await client.delete(`${accounts}/reborn`);
    const { metadata } = await create();
    const second = await tokenSecretOf('reborn');
    expect(second.metadata.annotations?.['kubernetes.io/service-account.uid']).toBe(metadata.uid);
    await until(
      () =>
        client.get(`${NS}/secrets/${first.metadata.name ?? ''}`).then(
          () => false,
          () => true,
        ),
      (gone) => gone,
    );
  });

  it('has its token secret mended: what is missing, and the CA where it is another', async () => {
    await client.create(`${NS}/serviceaccounts`, { metadata: { name: 'mended' } });
    const { metadata, data } = await tokenSecretOf('mended');
    const path = `${NS}/secrets/${metadata.name ?? ''}`;
    for (const change of [{ 'ca.crt': 'b3RoZXI=' }, { namespace: null, 'ca.crt': null }]) {
      await client.patch(path, 'merge', { data: change });
      await until(get(path), (secret) => JSON.stringify(secret.data) === JSON.stringify(data));
    }
  });

  it('has the secrets filled that ask for its token, and not those of an account that is not there', async () => {
    await client.create(`${NS}/serviceaccounts`, { metadata: { name: 'third' } });
    const ask = (name: string, account: string) =>
      client.create(`${NS}/secrets`, {
        metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
        type: 'kubernetes.io/service-account-token',
      });
    await ask('wanted', 'third');
    const secret = await until(get(`${NS}/secrets/wanted`), ({ data }) => data !== undefined);
    await expect(reviewOf(tokenIn(secret))).resolves.toMatchObject({ username: 'system:serviceaccount:ns:third' });
    await ask('lost', 'nobody');
    await until(
      () =>
        client.get(`${NS}/secrets/lost`).then(
          () => false,
          () => true,
        ),
      (gone) => gone,
    );
  });
});

describe('an aggregating cluster role', () => {
  const PATH = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const part = (name: string, resource: string) => ({
    metadata: { name, labels: { 'test/agg': 'true' } },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: [resource] }],
  });

  it('has the rules of the roles it selects, as they come and go', async () => {
    await client.create(PATH, part('part-b', 'bees'));
    await client.create(PATH, {
      metadata: { name: 'whole' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'test/agg': 'true' } }] },
    });
    await client.create(PATH, part('part-a', 'ants'));
    const resources = ({ rules }: KubeObject): string =>
      ((rules as { resources: string[] }[] | null) ?? []).flatMap((rule) => rule.resources).join();
    await until(get(`${PATH}/whole`), (role) => resources(role) === 'ants,bees');
    await client.delete(`${PATH}/part-a`);
    await until(get(`${PATH}/whole`), (role) => resources(role) === 'bees');
  });

  it('fills the default roles', async () => {
    await until(get(`${PATH}/admin`), ({ rules }) => ((rules as unknown[] | null) ?? []).length > 0);
  });
});

describe('leader election', () => {
  const candidate = (identity: string, signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>) =>
    runAsLeader(
      {
        client,
        namespace: 'ns',
        name: 'lock',
        identity,
        leaseDurationMs: 1000,
        renewDeadlineMs: 700,
        retryPeriodMs: 50,
      },
      lead,
      signal,
    );
  const whileLeading = (name: string, leading: string[]) => async (signal: AbortSignal) => {
    leading.push(name);
    await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
    leading.splice(leading.indexOf(name), 1);
  };

  it('has one leader at a time, and the next at once when the lease is given back', async () => {
    const leading: string[] = [];
    const [first, second] = [new AbortController(), new AbortController()];
    const one = candidate('one', first.signal, whileLeading('one', leading));
    await until(
      async () => leading,
      (names) => names.length === 1,
    );
    const two = candidate('two', second.signal, whileLeading('two', leading));
    await new Promise((done) => setTimeout(done, 1500));
    expect(leading).toEqual(['one']);
    first.abort();
    await one;
    await until(
      async () => leading,
      (names) => names.join() === 'two',
    );
    const lease = await client.get('/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock');
    expect(lease.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
    second.abort();
    await two;
  });

  it('is lost when somebody else holds the lease', async () => {
    const leading: string[] = [];
    const stop = new AbortController();
    const path = '/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock';
    const done = candidate('three', stop.signal, whileLeading('three', leading));
    await until(
      async () => leading,
      (names) => names.length === 1,
    );
    await until(
      async () => {
        const lease = await client.get(path);
        return client.update(path, { ...lease, spec: { ...(lease.spec as object), holderIdentity: 'thief' } });
      },
      () => true,
    );
    await done;
    expect(leading).toEqual([]);
  });
});
