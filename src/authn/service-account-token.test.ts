import { createHmac, generateKeyPairSync } from 'node:crypto';
import type { KubeObject } from '../api/object';
import { foreignJwt } from '../pki/jwt.fixture';
import { parseSigningKey, type SigningKey } from '../pki/signing-keys';
import { boundTokenIssuer } from './service-account-issuer';
import { LEGACY_ISSUER, serviceAccountTokenAuthenticator } from './service-account-token';

const ISSUER = 'https://kubernetes.default.svc';
const FORMER_ISSUER = 'https://former';
const NOW = Date.parse('2030-01-01T00:00:00Z');
const SECONDS = NOW / 1000;

function newKey(curve?: string): SigningKey {
  const { privateKey } =
    curve === undefined
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: curve });
  return parseSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}
const rsa = newKey();
const ec = newKey('P-256');
const unknown = newKey();

const account: KubeObject = { metadata: { name: 'robot', namespace: 'ns', uid: 'u1' } };
const pod: KubeObject = { metadata: { name: 'p', namespace: 'ns', uid: 'pu' } };

interface World {
  readonly account?: KubeObject;
  readonly pod?: KubeObject;
  readonly secret?: KubeObject;
}
const everything: World = { account, pod };

const used: string[] = [];
const noted: string[] = [];
beforeEach(() => {
  used.splice(0);
  noted.splice(0);
});

function authenticate(token: string, world: World = everything, wanted: readonly string[] = [ISSUER]) {
  const authenticator = serviceAccountTokenAuthenticator({
    keys: () => [rsa, ec],
    issuers: [ISSUER, FORMER_ISSUER],
    audiences: [ISSUER],
    lookup: true,
    objects: {
      getServiceAccount: async () => world.account,
      getPod: async () => world.pod,
      getSecret: async () => world.secret,
    },
    now: () => NOW,
    used: (use) => used.push(use),
    noteUse: (_, day) => noted.push(day),
  });
  return Promise.resolve(authenticator(token, wanted));
}

const claims = (changed: object = {}) => ({
  iss: ISSUER,
  aud: [ISSUER],
  exp: SECONDS + 3600,
  nbf: SECONDS,
  iat: SECONDS,
  sub: 'system:serviceaccount:ns:robot',
  'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'u1' } },
  ...changed,
});
const signed = (changed: object = {}, key = rsa): string => foreignJwt(claims(changed), key.privateKey, key.id);
const USER = {
  name: 'system:serviceaccount:ns:robot',
  uid: 'u1',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
};

describe('a bound service account token', () => {
  it('of any of the issuers is the account', async () => {
    await expect(authenticate(signed({ iss: FORMER_ISSUER }))).resolves.toMatchObject({ user: USER });
  });

  it('of any of the keys is the account', async () => {
    await expect(authenticate(signed())).resolves.toEqual({ user: USER, audiences: [ISSUER] });
    await expect(authenticate(signed({}, ec))).resolves.toMatchObject({ user: USER });
  });

  it('as the issuer makes it tells its pod', async () => {
    const token = await boundTokenIssuer(
      ISSUER,
      () => rsa,
    )({
      namespace: 'ns',
      account: { name: 'robot', uid: 'u1' },
      pod: { name: 'p', uid: 'pu' },
      audiences: [ISSUER, 'vault'],
      lifetimeSeconds: 600,
      now: NOW,
    });
    await expect(authenticate(token, everything, ['vault', 'x'])).resolves.toEqual({
      user: {
        ...USER,
        extra: { 'authentication.kubernetes.io/pod-name': ['p'], 'authentication.kubernetes.io/pod-uid': ['pu'] },
      },
      audiences: ['vault'],
    });
  });

  it('without an audience is for this server, and a clock may be a minute off', async () => {
    await expect(authenticate(signed({ aud: undefined }))).resolves.toMatchObject({ user: USER });
    await expect(authenticate(signed({ exp: SECONDS - 59, nbf: SECONDS + 59 }))).resolves.toMatchObject({ user: USER });
  });

  const withPod = { 'kubernetes.io': { ...claims()['kubernetes.io'], pod: { name: 'p', uid: 'pu' } } };
  it.each<[string, string, World, string]>([
    ['signed by another key', signed({}, unknown), everything, 'error in cryptographic primitive'],
    [
      'for another audience',
      signed({ aud: 'other' }),
      everything,
      `token audiences ["other"] is invalid for the target audiences ["${ISSUER}"]`,
    ],
    ['expired', signed({ exp: SECONDS - 61 }), everything, 'Token has expired'],
    ['without an end', signed({ exp: undefined }), everything, 'Token has expired'],
    ['not valid yet', signed({ nbf: SECONDS + 61 }), everything, 'Token could not be validated'],
    ['of an account that is gone', signed(), {}, 'serviceaccounts "robot" not found'],
    [
      'of an account that was made anew',
      signed(),
      { account: { metadata: { uid: 'u2' } } },
      'ServiceAccount UID (u2) does not match claim (u1)',
    ],
    [
      'without claims of its own',
      signed({ 'kubernetes.io': undefined }),
      everything,
      'ServiceAccount UID (u1) does not match claim ()',
    ],
    ['of a pod that is gone', signed(withPod), { account }, 'Token has been invalidated'],
    [
      'of a pod that was made anew',
      signed(withPod),
      { account, pod: { metadata: { uid: 'other' } } },
      'Pod UID (other) does not match claim (pu)',
    ],
    [
      'of a pod that has been deleted for more than a minute',
      signed(withPod),
      { account, pod: { metadata: { uid: 'pu', deletionTimestamp: '2029-12-31T23:58:59Z' } } },
      'Token has been invalidated',
    ],
  ])('%s is refused', async (_, token, world, refused) => {
    await expect(authenticate(token, world)).resolves.toEqual({ refused });
  });

  it('with alg none, or with the public key as a shared secret, is refused', async () => {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const none = `${encode({ alg: 'none' })}.${encode(claims())}.`;
    const text = `${encode({ alg: 'HS256' })}.${encode(claims())}`;
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
    const hmac = `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
    for (const token of [none, hmac]) await expect(authenticate(token)).resolves.toHaveProperty('refused');
  });

  it('of another issuer, or what is no token, is left to others', async () => {
    await expect(authenticate(signed({ iss: 'https://other' }))).resolves.toBeUndefined();
    for (const token of ['a.b.c', 'abc', 'e30.e30', 'e30.e30.']) {
      await expect(authenticate(token)).resolves.toBeUndefined();
    }
  });
});

describe('a token that lives longer than was asked for', () => {
  const extended = (warnafter: number) =>
    signed({ 'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'u1' }, warnafter } });

  it('is good, and its use after the time that was asked for is told', async () => {
    await expect(authenticate(extended(SECONDS))).resolves.toEqual({ user: USER, audiences: [ISSUER] });
    await expect(authenticate(extended(SECONDS - 7))).resolves.toEqual({
      user: USER,
      audiences: [ISSUER],
      annotations: {
        'authentication.k8s.io/stale-token':
          'subject: system:serviceaccount:ns:robot, seconds after warning threshold: 7',
      },
    });
    expect(used).toEqual(['valid', 'stale']);
  });

  it('is refused after its end like any other', async () => {
    const late = { exp: SECONDS - 61, 'kubernetes.io': { ...claims()['kubernetes.io'], warnafter: SECONDS - 3600 } };
    await expect(authenticate(signed(late))).resolves.toHaveProperty('refused');
    expect(used).toEqual([]);
  });

  it('says so', async () => {
    const request = {
      namespace: 'ns',
      account: { name: 'robot', uid: 'u1' },
      audiences: [ISSUER],
      lifetimeSeconds: 100,
      now: NOW,
    };
    const claimsOf = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
    const issue = boundTokenIssuer(ISSUER, () => rsa);
    expect(claimsOf(await issue({ ...request, warnAfterSeconds: 10 }))).toMatchObject({
      exp: SECONDS + 100,
      'kubernetes.io': { warnafter: SECONDS + 10 },
    });
    expect(claimsOf(await issue(request))['kubernetes.io']).not.toHaveProperty('warnafter');
  });
});

describe('a token out of a secret', () => {
  const prefix = 'kubernetes.io/serviceaccount';
  const legacy = (changed: object = {}) => {
    const all = {
      iss: LEGACY_ISSUER,
      sub: 'system:serviceaccount:ns:robot',
      [`${prefix}/namespace`]: 'ns',
      [`${prefix}/secret.name`]: 's',
      [`${prefix}/service-account.name`]: 'robot',
      [`${prefix}/service-account.uid`]: 'u1',
      ...changed,
    };
    return foreignJwt(all, rsa.privateKey, rsa.id);
  };
  const secretWith = (token: string): KubeObject => ({
    metadata: {},
    data: { token: Buffer.from(token).toString('base64') },
  });

  it('is the account while the secret holds it', async () => {
    const token = legacy();
    await expect(authenticate(token, { account, secret: secretWith(token) })).resolves.toMatchObject({ user: USER });
  });

  const labelled = (token: string, labels: Record<string, string>): World => ({
    account,
    secret: { ...secretWith(token), metadata: { labels } },
  });

  it.each([
    [{}, ['2030-01-01']],
    [{ 'kubernetes.io/legacy-token-last-used': '2029-12-31' }, ['2030-01-01']],
    [{ 'kubernetes.io/legacy-token-last-used': '2030-01-01' }, []],
    // Of a server whose clock is ahead.
    [{ 'kubernetes.io/legacy-token-last-used': '2030-01-02' }, []],
  ])('has the day of its use written down, once: %j', async (labels, days) => {
    const token = legacy();
    await authenticate(token, labelled(token, labels));
    expect(noted).toEqual(days);
  });

  it('that is marked as invalid is refused, and its use written down', async () => {
    const token = legacy();
    const found = await authenticate(
      token,
      labelled(token, { 'kubernetes.io/legacy-token-invalid-since': '2029-01-01' }),
    );
    expect((found as { refused: string }).refused).toMatch(
      /^the token in secret ns\/s for service account ns\/robot has been marked/,
    );
    expect(noted).toEqual(['2030-01-01']);
    expect(used).toEqual([]);
  });

  it.each<[string, object, (token: string) => World, string]>([
    ['whose secret is gone', {}, () => ({ account }), 'Token has been invalidated'],
    [
      'other than that of the secret',
      {},
      () => ({ account, secret: secretWith('x') }),
      "Token does not match server's copy",
    ],
    ['of an account that is gone', {}, (token) => ({ secret: secretWith(token) }), 'serviceaccounts "robot" not found'],
    [
      'with another uid',
      { [`${prefix}/service-account.uid`]: 'no' },
      (token) => ({ account, secret: secretWith(token) }),
      'ServiceAccount UID (u1) does not match claim (no)',
    ],
    ['with the subject of another', { sub: 'system:serviceaccount:ns:two' }, () => everything, 'sub claim is invalid'],
    ['without its claims', { [`${prefix}/secret.name`]: undefined }, () => everything, 'secretName claim is missing'],
  ])('%s is refused', async (_, changed, world, refused) => {
    const token = legacy(changed);
    await expect(authenticate(token, world(token))).resolves.toEqual({ refused });
  });
});
