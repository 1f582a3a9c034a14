import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { PublicJwk } from '../pki/jwt';
import { foreignJwt } from '../pki/jwt.fixture';
import { oidcAuthenticator, type OidcOptions } from './oidc';
import { OidcKeys } from './oidc-keys';

const ISSUER = 'https://issuer.example/realm';
const NOW = Date.parse('2030-01-01T00:00:00Z');
const SECONDS = NOW / 1000;

const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const one = rsa();
const two = rsa();
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** A provider that publishes what it is told to, and counts who asks. */
class Provider {
  published: Readonly<Record<string, KeyObject>> = { k1: one.publicKey };
  issuer = ISSUER;
  asked = 0;
  down = false;

  readonly fetchJson = async (url: string): Promise<unknown> => {
    this.asked++;
    if (this.down) throw new Error('connection refused');
    if (url.endsWith('/.well-known/openid-configuration')) return { issuer: this.issuer, jwks_uri: `${ISSUER}/keys` };
    return {
      keys: Object.entries(this.published).map(([kid, key]) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' })),
    };
  };
}

let provider: Provider;
let now: number;
beforeEach(() => {
  provider = new Provider();
  now = NOW;
});

function authenticator(changed: Partial<OidcOptions> = {}) {
  const clock = (): number => now;
  const authenticate = oidcAuthenticator({
    issuer: ISSUER,
    clientId: 'me',
    usernameClaim: 'sub',
    usernamePrefix: undefined,
    groupsClaim: '',
    groupsPrefix: '',
    requiredClaims: {},
    signingAlgorithms: ['RS256'],
    keys: new OidcKeys({ issuer: ISSUER, fetchJson: provider.fetchJson, now: clock }),
    keysOf: () => {
      throw new Error('no other issuer');
    },
    fetchText: async () => {
      throw new Error('no other source');
    },
    now: clock,
    ...changed,
  });
  return async (token: string) => authenticate(token, []);
}

const token = (changed: object = {}, key: KeyObject = one.privateKey, kid = 'k1') =>
  foreignJwt({ iss: ISSUER, aud: 'me', sub: 'u', exp: SECONDS + 60, ...changed }, key, kid);

describe('an ID token', () => {
  it('is the subject, under the issuer', async () => {
    await expect(authenticator()(token())).resolves.toEqual({ user: { name: `${ISSUER}#u`, groups: [] } });
  });

  it('may be for several audiences, and be used five minutes early', async () => {
    const early = token({ aud: ['x', 'me'], nbf: SECONDS + 299 });
    await expect(authenticator()(early)).resolves.toHaveProperty('user');
  });

  it('may say when it ends in a text', async () => {
    await expect(authenticator()(token({ exp: `${SECONDS + 1}` }))).resolves.toHaveProperty('user');
    await expect(authenticator()(token({ exp: `${SECONDS - 1}` }))).resolves.toHaveProperty('refused');
    await expect(authenticator()(token({ exp: 'soon' }))).resolves.toHaveProperty('refused');
  });

  it('may have an empty name, but no user has one', async () => {
    const named = (usernamePrefix: string) => authenticator({ usernamePrefix })(token({ sub: '' }));
    await expect(named('oidc:')).resolves.toEqual({ user: { name: 'oidc:', groups: [] } });
    await expect(named('-')).resolves.toHaveProperty('refused');
  });

  it('gives names and groups by its claims', async () => {
    const options = {
      usernameClaim: 'email',
      usernamePrefix: 'oidc:',
      groupsClaim: 'roles',
      groupsPrefix: 'grp:',
      requiredClaims: { hd: 'example.com' },
    };
    const claims = { email: 'a@b.c', email_verified: true, hd: 'example.com' };
    const user = (groups: readonly string[]) => ({ user: { name: 'oidc:a@b.c', groups } });
    const authenticate = authenticator(options);
    await expect(authenticate(token({ ...claims, roles: ['x', 'y'] }))).resolves.toEqual(user(['grp:x', 'grp:y']));
    await expect(authenticate(token({ ...claims, roles: 'solo' }))).resolves.toEqual(user(['grp:solo']));
    await expect(authenticate(token({ ...claims, roles: null }))).resolves.toEqual(user([]));
    await expect(authenticate(token({ ...claims, email_verified: undefined }))).resolves.toEqual(user([]));
    const bad = [
      { email_verified: false },
      { email_verified: 'true' },
      { email: 7 },
      { hd: 'x' },
      { hd: 1 },
      { roles: { a: 1 } },
    ];
    for (const changed of bad) {
      await expect(authenticate(token({ ...claims, ...changed }))).resolves.toHaveProperty('refused');
    }
    await expect(authenticate(token({ email: 'a@b.c' }))).resolves.toHaveProperty('refused');
  });

  it.each<[string, object]>([
    ['expired', { exp: SECONDS - 1 }],
    ['without an end', { exp: undefined }],
    ['too early', { nbf: SECONDS + 301 }],
    ['for another client', { aud: 'other' }],
    ['for nobody', { aud: undefined }],
    ['without a subject', { sub: undefined }],
    ['with a number as subject', { sub: 7 }],
  ])('%s is refused', async (_, changed) => {
    await expect(authenticator()(token(changed))).resolves.toHaveProperty('refused');
  });

  it.each<[string, () => string]>([
    ['signed by a key that is not published', () => token({}, two.privateKey)],
    ['that names an unknown key', () => token({}, one.privateKey, 'k9')],
    ['of an algorithm that is not allowed', () => token({}, curve.privateKey)],
    [
      'with alg none',
      () => {
        const [, claims = ''] = token().split('.');
        return `${Buffer.from('{"alg":"none","kid":"k1"}').toString('base64url')}.${claims}.`;
      },
    ],
    [
      'signed with the public key as a secret',
      () => {
        const [, claims = ''] = token().split('.');
        const text = `${Buffer.from('{"alg":"HS256","kid":"k1"}').toString('base64url')}.${claims}`;
        const secret = one.publicKey.export({ type: 'spki', format: 'pem' });
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
      },
    ],
  ])('%s is refused', async (_, make) => {
    await expect(authenticator()(make())).resolves.toHaveProperty('refused');
  });

  it('of another issuer is left to others, without asking anybody', async () => {
    await expect(authenticator()(token({ iss: `${ISSUER}/` }))).resolves.toBeUndefined();
    await expect(authenticator()('a.b.c')).resolves.toBeUndefined();
    expect(provider.asked).toBe(0);
  });
});

describe('groups that a token only points at', () => {
  const GRAPH = 'https://graph.example';
  const pointing = (changed: object = {}) =>
    token({
      _claim_names: { groups: 'src' },
      _claim_sources: { src: { endpoint: `${GRAPH}/groups`, access_token: 'show-me' } },
      ...changed,
    });
  const response = (changed: object = {}, key: KeyObject = two.privateKey) =>
    foreignJwt({ iss: GRAPH, aud: 'me', exp: SECONDS + 60, groups: ['a', 'b'], ...changed }, key, 'g1');
  const graphKeys = {
    some: async (id: string | undefined, verifies: (key: PublicJwk) => Promise<boolean>) =>
      id === 'g1' && verifies(two.publicKey.export({ format: 'jwk' })),
  };
  const asking = (text: () => string, asked: (readonly (string | undefined)[])[] = []) =>
    authenticator({
      groupsClaim: 'groups',
      groupsPrefix: 'g:',
      keysOf: (issuer) => (issuer === GRAPH ? graphKeys : { some: async () => false }),
      fetchText: async (url, bearerToken) => {
        asked.push([url, bearerToken]);
        return text();
      },
    });

  it('are fetched from their source with its access token', async () => {
    const asked: (readonly (string | undefined)[])[] = [];
    await expect(asking(() => `${response()}\n`, asked)(pointing())).resolves.toMatchObject({
      user: { groups: ['g:a', 'g:b'] },
    });
    expect(asked).toEqual([[`${GRAPH}/groups`, 'show-me']]);
  });

  it.each<[string, object, readonly string[]]>([
    ['the token has them itself', { groups: ['own'] }, ['g:own']],
    ['another claim is pointed at', { _claim_names: { address: 'src' } }, []],
    ['the source holds the token itself', { _claim_sources: { src: { JWT: response() } } }, []],
  ])('are not fetched where %s', async (_, changed, groups) => {
    const asked: (readonly (string | undefined)[])[] = [];
    await expect(asking(response, asked)(pointing(changed))).resolves.toMatchObject({ user: { groups } });
    expect(asked).toEqual([]);
  });

  it.each<[string, () => string]>([
    ['signed by a key that their issuer does not publish', () => response({}, one.privateKey)],
    ['of another issuer', () => response({ iss: 'https://other.example' })],
    ['of no issuer', () => response({ iss: undefined })],
    ['for another client', () => response({ aud: 'other' })],
    ['expired', () => response({ exp: SECONDS - 1 })],
    ['without them', () => response({ groups: undefined })],
    ['that is no token', () => '{"groups":["a"]}'],
    [
      'that cannot be fetched',
      () => {
        throw new Error('connection refused');
      },
    ],
  ])('in an answer %s let nobody in', async (_, text) => {
    await expect(asking(text)(pointing())).resolves.toHaveProperty('refused');
  });

  it.each<[string, object]>([
    ['no sources', { _claim_sources: undefined }],
    ['a source that is not there', { _claim_names: { groups: 'x' } }],
    ['names of another form', { _claim_names: ['groups'] }],
    ['an endpoint without TLS', { _claim_sources: { src: { endpoint: 'http://graph.example/groups' } } }],
  ])('are refused with %s', async (_, changed) => {
    const asked: (readonly (string | undefined)[])[] = [];
    await expect(asking(response, asked)(pointing(changed))).resolves.toHaveProperty('refused');
    expect(asked).toEqual([]);
  });
});

describe('the keys of a provider', () => {
  it('are fetched once, and again when a key is new', async () => {
    const authenticate = authenticator();
    await authenticate(token());
    await authenticate(token());
    expect(provider.asked).toBe(2);
    provider.published = { k2: two.publicKey };
    await expect(authenticate(token({}, two.privateKey, 'k2'))).resolves.toHaveProperty('user');
    await expect(authenticate(token())).resolves.toHaveProperty('refused');
  });

  it('are not fetched without end for tokens that a stranger makes up', async () => {
    const authenticate = authenticator();
    for (let index = 0; index < 50; index++) await authenticate(token({}, two.privateKey, `k${index}`));
    expect(provider.asked).toBeLessThan(15);
    now += 60_000;
    provider.published = { k2: two.publicKey };
    await expect(authenticate(token({ exp: SECONDS + 3600 }, two.privateKey, 'k2'))).resolves.toHaveProperty('user');
  });

  it('refuse a provider that is another, and one that is down only for as long as it is', async () => {
    const authenticate = authenticator();
    provider.down = true;
    await expect(authenticate(token())).resolves.toEqual({ refused: 'oidc: connection refused' });
    provider.down = false;
    await expect(authenticate(token())).resolves.toHaveProperty('user');
    provider.issuer = 'https://evil.example';
    await expect(authenticator()(token())).resolves.toHaveProperty('refused');
  });
});
