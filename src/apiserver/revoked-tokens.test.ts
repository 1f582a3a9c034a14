import { generateKeyPairSync } from 'node:crypto';
import { Registry } from 'prom-client';
import { RegistryFixture } from '../../test/support/registry-fixture';
import { AuthenticationMetrics } from '../authn/metrics';
import type { AuthenticationResult } from '../authn/credentials';
import { silentLogger } from '../observability/logger';
import type { KubeObject } from '../api/object';
import { foreignJwt } from '../pki/jwt.fixture';
import { parseSigningKey } from '../pki/signing-keys';
import type { Revision } from '../storage/store';
import { createAuthentication, type Authentication } from './authentication';
import { RegistryReader } from '../resources/registry-reader';

const ISSUER = 'https://kubernetes.default.svc';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = parseSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const BOOTSTRAP_TOKEN = 'abcdef.0123456789abcdef';
const decoder = { decode: (value: Buffer) => JSON.parse(value.toString('utf8')) as KubeObject };

let fixture: RegistryFixture;
let authentication: Authentication;
const revisions = new Map<string, Revision>();

/** Stores the object, or deletes it, and waits until memory knows. */
async function store(path: string, object: KubeObject | undefined): Promise<void> {
  const storeKey = `/registry/${path}`;
  const known = revisions.get(path);
  const value = Buffer.from(JSON.stringify(object ?? {}));
  const outcome =
    known === undefined
      ? await fixture.store.create(storeKey, value)
      : object === undefined
        ? await fixture.store.delete(storeKey, known)
        : await fixture.store.update(storeKey, value, known);
  if (!outcome.ok) throw new Error(`${path} is not as expected`);
  if (object === undefined) revisions.delete(path);
  else revisions.set(path, outcome.revision);
  expect(await fixture.cache.waitFor(outcome.revision, 5_000)).toBe(true);
}

const named = (name: string, uid: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, namespace: 'ns', uid },
  ...more,
});

function tokenOf(bound: object = {}): string {
  const seconds = Math.floor(Date.now() / 1000);
  const own = { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'u1' }, ...bound };
  const claims = { iss: ISSUER, aud: [ISSUER], exp: seconds + 3600, nbf: seconds, iat: seconds, sub: 's' };
  return foreignJwt({ ...claims, 'kubernetes.io': own }, key.privateKey, key.id);
}

async function isBelieved(token: string): Promise<boolean> {
  const result: AuthenticationResult = await authentication.authenticateToken(token, [ISSUER]);
  return result !== undefined && 'user' in result;
}

const bootstrapSecret = (use: string): KubeObject => ({
  ...named('bootstrap-token-abcdef', 'b1'),
  type: 'bootstrap.kubernetes.io/token',
  data: Object.fromEntries(
    Object.entries({
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': use,
    }).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  ),
});

beforeAll(async () => {
  fixture = await RegistryFixture.open();
  const resource = (prefix: string) => fixture.cache.register(prefix, decoder);
  authentication = createAuthentication(
    {
      anonymous: false,
      tokenFile: '',
      bootstrapTokens: true,
      requestHeader: undefined,
      serviceAccounts: {
        issuers: [ISSUER],
        keys: [key],
        signingKey: key,
        lookup: true,
        maxLifetimeSeconds: undefined,
        extendLifetime: false,
        keysUrl: '',
        audiences: [ISSUER],
      },
      oidc: undefined,
      webhook: undefined,
    },
    {
      reader: new RegistryReader(fixture.cache, fixture.store, '/registry/', resource),
      keys: { current: () => ({ keys: [key], signingKey: key }), close: () => undefined },
      clientAuthority: () => undefined,
      frontAuthority: () => undefined,
      metrics: new AuthenticationMetrics(new Registry()),
      noteTokenUse: () => undefined,
      logger: silentLogger,
    },
  );
});
afterAll(async () => {
  authentication.close();
  await fixture.close();
});

describe('a token that was believed a moment ago', () => {
  beforeEach(async () => {
    if (!revisions.has('serviceaccounts/ns/robot')) await store('serviceaccounts/ns/robot', named('robot', 'u1'));
  });

  it('is refused as soon as its account is deleted', async () => {
    const token = tokenOf();
    expect(await isBelieved(token)).toBe(true);
    await store('serviceaccounts/ns/robot', undefined);
    expect(await isBelieved(token)).toBe(false);
  });

  it('is refused when its account gave way to another of the same name, and good again with its own', async () => {
    const token = tokenOf();
    expect(await isBelieved(token)).toBe(true);
    await store('serviceaccounts/ns/robot', named('robot', 'u2'));
    expect(await isBelieved(token)).toBe(false);
    await store('serviceaccounts/ns/robot', named('robot', 'u1'));
    expect(await isBelieved(token)).toBe(true);
  });

  it.each([
    ['pod', 'pods'],
    ['secret', 'secrets'],
  ])('is refused as soon as the %s is deleted to which it is bound', async (claim, resource) => {
    const path = `${resource}/ns/bound`;
    await store(path, named('bound', 'x1'));
    const token = tokenOf({ [claim]: { name: 'bound', uid: 'x1' } });
    expect(await isBelieved(token)).toBe(true);
    await store(path, named('bound', 'x1', { status: {} }));
    expect(await isBelieved(token)).toBe(true);
    await store(path, undefined);
    expect(await isBelieved(token)).toBe(false);
  });

  it('of bootstrapping is refused as soon as its secret is switched off or deleted', async () => {
    const path = 'secrets/kube-system/bootstrap-token-abcdef';
    await store(path, bootstrapSecret('true'));
    expect(await isBelieved(BOOTSTRAP_TOKEN)).toBe(true);
    await store(path, bootstrapSecret('false'));
    expect(await isBelieved(BOOTSTRAP_TOKEN)).toBe(false);
    await store(path, bootstrapSecret('true'));
    expect(await isBelieved(BOOTSTRAP_TOKEN)).toBe(true);
    await store(path, undefined);
    expect(await isBelieved(BOOTSTRAP_TOKEN)).toBe(false);
  });

  it('stays believed without another look while others come and go', async () => {
    const token = tokenOf();
    const before = await authentication.authenticateToken(token, [ISSUER]);
    await store('serviceaccounts/ns/other', named('other', 'o1'));
    expect(await authentication.authenticateToken(token, [ISSUER])).toBe(before);
  });
});
