import { generateKeyPairSync } from 'node:crypto';
import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject } from '../../src/api/object';
import type { ApiClient, ListOf } from '../../src/client/api-client';
import { startBootstrapSigner } from '../../src/controllers/bootstrap-tokens/bootstrap-signer';
import type { Controller } from '../../src/controllers/controller';
import { startServiceAccountTokenController } from '../../src/controllers/service-account-token';
import { silentLogger } from '../../src/observability/logger';
import { parseSigningKey } from '../../src/pki/signing-keys';
import { adminClient } from '../support/admin-client';
import { until } from '../support/until';

/** Controllers that begin where others were killed, or did everything. */

let server: ApiServer;
let client: ApiClient;

beforeAll(async () => {
  server = await startApiServer({ controllers: [] });
  client = adminClient(server);
  await client.create('/api/v1/namespaces', { metadata: { name: 'ns' } });
}, 30_000);

/** A failed test leaves them. */
const started: Controller[] = [];
const stop = new AbortController();
function begun(controller: Controller): Controller {
  started.push(controller);
  return controller;
}

afterAll(async () => {
  stop.abort();
  await Promise.all(started.map((controller) => controller.close()));
  client.close();
  await server.stop();
});

const parts = () => ({ client, logger: silentLogger });

describe('token secrets of accounts', () => {
  const ACCOUNTS = '/api/v1/namespaces/ns/serviceaccounts';
  const SECRETS = '/api/v1/namespaces/ns/secrets';
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signingKey = parseSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const start = () => begun(startServiceAccountTokenController(parts(), { signingKey, rootCertificates: '' }));
  interface Account extends KubeObject {
    readonly secrets?: readonly { readonly name: string }[];
  }
  const secretsOf = ({ secrets = [] }: Account): readonly string[] => secrets.map(({ name }) => name);
  const namesOf = async (account: string): Promise<readonly string[]> => {
    const { items } = await client.get<ListOf>(SECRETS);
    const ofAccount = items.filter(
      ({ metadata }) => metadata.annotations?.['kubernetes.io/service-account.name'] === account,
    );
    return ofAccount.map(({ metadata }) => metadata.name ?? '');
  };

  it('that were made and not named yet are named, instead of those that are gone, and no others are made', async () => {
    const { metadata } = await client.create(ACCOUNTS, {
      metadata: { name: 'robot' },
      secrets: [{ name: 'robot-token-bcdfg' }, { name: 'mine' }],
    });
    const annotations = {
      'kubernetes.io/service-account.name': 'robot',
      'kubernetes.io/service-account.uid': metadata.uid ?? '',
    };
    const type = 'kubernetes.io/service-account-token';
    for (const name of ['robot-by-hand', 'robot-token-hjklm'])
      await client.create(SECRETS, { metadata: { name, annotations }, type });
    const controller = start();
    const account = await until(
      () => client.get<Account>(`${ACCOUNTS}/robot`),
      (found) => secretsOf(found).includes('robot-token-hjklm'),
    );
    expect(secretsOf(account)).toEqual(['mine', 'robot-token-hjklm']);
    await controller.close();
    await expect(namesOf('robot')).resolves.toEqual(['robot-by-hand', 'robot-token-hjklm']);
  });
});

describe('cluster-info', () => {
  it('never loses the signature of a token that is there', async () => {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const addToken = (id: string) =>
      client.create('/api/v1/namespaces/kube-system/secrets', {
        metadata: { name: `bootstrap-token-${id}` },
        type: 'bootstrap.kubernetes.io/token',
        data: {
          'token-id': base64(id),
          'token-secret': base64(`secretof${id}00`),
          'usage-bootstrap-signing': base64('true'),
        },
      });
    const maps = '/api/v1/namespaces/kube-public/configmaps';
    const dataOf = ({ data }: KubeObject) => data as Readonly<Record<string, string>>;
    const untilSigned = (id: string) =>
      until(
        () => client.get(`${maps}/cluster-info`),
        (map) => `jws-kubeconfig-${id}` in dataOf(map),
      );
    await addToken('first0');
    await client.create(maps, { metadata: { name: 'cluster-info' }, data: { kubeconfig: 'k' } });
    const first = begun(startBootstrapSigner(parts(), Date.now));
    const signed = await untilSigned('first0');
    await first.close();

    const seen: KubeObject[] = [];
    const watching = (async () => {
      const query = `watch=true&resourceVersion=${signed.metadata.resourceVersion ?? ''}`;
      for await (const { object } of client.watch(`${maps}?${query}`, stop.signal)) seen.push(object as KubeObject);
    })().catch(() => undefined);
    const second = begun(startBootstrapSigner(parts(), Date.now));
    await addToken('second');
    await untilSigned('second');
    await second.close();
    await until(
      async () => seen.at(-1),
      (map) => 'jws-kubeconfig-second' in dataOf(map!),
    );
    stop.abort();
    await watching;
    for (const map of seen) expect(Object.keys(dataOf(map))).toContain('jws-kubeconfig-first0');
  });
});
