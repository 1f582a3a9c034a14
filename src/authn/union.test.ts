import { X509Certificate } from 'node:crypto';
import { AuthorityBundle } from '../pki/authority-bundle';
import { createAuthority, issueKeyPair, type Authority } from '../pki/authority';
import { forAudiences } from './audiences';
import { clientCertificateAuthenticator } from './client-certificate';
import type { ClientCertificate, Credentials, HeaderReader } from './credentials';
import { requestHeaderAuthenticator } from './request-header';
import { parseTokenFile, tokenFileAuthenticator } from './token-file';
import { authenticateRequest, authenticateTokenUnion, type RequestAuthentication } from './union';

const NOW = new Date('2030-01-01T00:00:00Z');
const file = `admintoken,admin,admin-uid,system:masters

alicetoken,alice,alice-uid,"dev,qa"
#bob#token,bob,
`;
const fileUsers = () => parseTokenFile(file, 'tokens.csv').users;

const noHeaders: HeaderReader = { names: () => [], values: () => [] };
const nothing: Credentials = { bearerToken: undefined, clientCertificate: undefined, headers: noHeaders };

function headersOf(lines: readonly (readonly [string, string])[]): HeaderReader {
  return {
    names: () => [...new Set(lines.map(([name]) => name))],
    values: (name) => lines.filter(([one]) => one === name).map(([, value]) => value),
  };
}

const clientCa = createAuthority('client-ca', NOW);
const frontCa = createAuthority('front-ca', NOW);
const otherCa = createAuthority('other-ca', NOW);

function certificate(authority: Authority, commonName: string, organizations: readonly string[]): ClientCertificate {
  const pair = issueKeyPair(
    authority,
    { subject: { commonName, organizations }, altNames: [], usages: ['client auth'] },
    NOW,
  );
  return { trusted: true, leaf: new X509Certificate(pair.certificatePem), commonName, organizations };
}

let now = NOW.getTime();
const bundle = (authority: Authority) => {
  const made = new AuthorityBundle(authority.certificatePem, () => now);
  return () => made;
};
/** What is found at once is awaited like what is found later. */
const waitedFor = (options: RequestAuthentication) => {
  const authenticate = authenticateRequest(options);
  return async (credentials: Credentials) => authenticate(credentials);
};
const chain = (allowAnonymous = true) =>
  waitedFor({
    authenticators: [
      requestHeaderAuthenticator({
        authority: bundle(frontCa),
        allowedNames: ['front-proxy'],
        userHeaders: ['X-Remote-User', 'X-Other-User'],
        groupHeaders: ['X-Remote-Group'],
        extraPrefixes: ['X-Remote-Extra-'],
      }),
      clientCertificateAuthenticator(bundle(clientCa)),
    ],
    authenticateToken: authenticateTokenUnion([forAudiences(['api'], tokenFileAuthenticator(fileUsers()))]),
    audiences: ['api'],
    allowAnonymous,
  });
const UNAUTHORIZED = { status: { code: 401 } };

beforeEach(() => {
  now = NOW.getTime();
});

describe('the token file', () => {
  it.each([
    ['admintoken', { name: 'admin', uid: 'admin-uid', groups: ['system:masters', 'system:authenticated'] }],
    ['alicetoken', { name: 'alice', uid: 'alice-uid', groups: ['dev', 'qa', 'system:authenticated'] }],
    ['#bob#token', { name: 'bob', groups: ['system:authenticated'] }],
  ])('knows the bearer of %s', async (bearerToken, user) => {
    await expect(chain()({ ...nothing, bearerToken })).resolves.toEqual(user);
  });

  it.each([
    ['a,b,c\n\nsecret,name', 'token file "f.csv", line 3: must have at least 3 columns', 'found 2'],
    ['a,b,c\nsecret,name,uid,"a,b', 'token file "f.csv", line 2', 'no valid CSV'],
    ['a,b,c\n"sec"ret,name,uid', 'token file "f.csv", line 2', 'no valid CSV'],
  ])('is refused for %j, by its line and without its tokens', (text, where, what) => {
    const refused = (): unknown => parseTokenFile(text, 'f.csv');
    expect(refused).toThrow(where);
    expect(refused).toThrow(what);
    expect(refused).not.toThrow(/sec"?ret/);
  });

  it('warns of tokens that are empty or come twice, of which the last counts', async () => {
    const { users, warnings } = parseTokenFile('t,one,1\n,nobody,2\nt,two,3\n', 'f.csv');
    expect(warnings).toEqual([
      'token file "f.csv", line 2: empty token',
      'token file "f.csv", line 3: duplicate token',
    ]);
    expect(await tokenFileAuthenticator(users)('t', [])).toMatchObject({ user: { name: 'two' } });
    expect(await tokenFileAuthenticator(users)('', [])).toBeUndefined();
  });

  it('is for the audiences of the server only', async () => {
    const authenticate = forAudiences(['api', 'second'], tokenFileAuthenticator(fileUsers()));
    expect(await authenticate('#bob#token', ['x', 'second'])).toMatchObject({ audiences: ['second'] });
    expect(await authenticate('#bob#token', ['x'])).toBeUndefined();
  });
});

describe('a request', () => {
  it('without credentials is anonymous, or refused where that is not allowed', async () => {
    const anonymous = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
    await expect(chain()(nothing)).resolves.toEqual(anonymous);
    await expect(chain(false)(nothing)).rejects.toMatchObject(UNAUTHORIZED);
  });

  it('with a token that nobody accepts is refused even where anonymous ones are allowed', async () => {
    await expect(chain()({ ...nothing, bearerToken: 'nosuch' })).rejects.toMatchObject(UNAUTHORIZED);
  });

  it('with a good certificate is that of its subject, whatever token comes with it', async () => {
    const clientCertificate = certificate(clientCa, 'jane', ['dev']);
    const user = { name: 'jane', groups: ['dev', 'system:authenticated'] };
    await expect(chain()({ ...nothing, clientCertificate })).resolves.toEqual(user);
    await expect(chain()({ ...nothing, clientCertificate, bearerToken: 'nosuch' })).resolves.toEqual(user);
  });

  it('with a certificate without a common name is anonymous where there is no proxy to be one', async () => {
    const authenticate = waitedFor({
      authenticators: [clientCertificateAuthenticator(bundle(clientCa))],
      authenticateToken: authenticateTokenUnion([]),
      audiences: [],
      allowAnonymous: true,
    });
    const clientCertificate = certificate(clientCa, '', ['dev']);
    await expect(authenticate({ ...nothing, clientCertificate })).resolves.toMatchObject({ name: 'system:anonymous' });
  });

  it.each([
    ['of an unknown CA', () => certificate(otherCa, 'jane', [])],
    ['that TLS did not verify', () => ({ ...certificate(clientCa, 'jane', []), trusted: false })],
    [
      'that has run out since the connection was made',
      () => {
        now = NOW.getTime() + 366 * 24 * 3600 * 1000;
        return certificate(clientCa, 'jane', []);
      },
    ],
  ])('with a certificate %s is refused, unless a good token comes with it', async (_, make) => {
    const clientCertificate = make();
    await expect(chain()({ ...nothing, clientCertificate })).rejects.toMatchObject(UNAUTHORIZED);
    await expect(chain()({ ...nothing, clientCertificate, bearerToken: '#bob#token' })).resolves.toMatchObject({
      name: 'bob',
    });
  });

  it('joins system:authenticated only where it is in neither group', async () => {
    const groups = ['system:unauthenticated', 'x'];
    const clientCertificate = certificate(clientCa, 'jane', groups);
    await expect(chain()({ ...nothing, clientCertificate })).resolves.toEqual({ name: 'jane', groups });
  });
});

describe('headers of an authenticating proxy', () => {
  const proxy = certificate(frontCa, 'front-proxy', []);
  const jane = headersOf([
    ['x-remote-user', 'jane'],
    ['x-remote-group', 'a,b'],
    ['x-remote-group', ''],
    ['x-remote-group', 'c'],
    ['x-remote-extra-example.com%2fscope', 'v%2F1'],
    ['x-remote-extra-x%zz', 'w'],
  ]);

  it('are believed with the certificate of the proxy', async () => {
    await expect(chain()({ ...nothing, clientCertificate: proxy, headers: jane })).resolves.toEqual({
      name: 'jane',
      groups: ['a,b', 'c', 'system:authenticated'],
      extra: { 'example.com/scope': ['v%2F1'], 'x%zz': ['w'] },
    });
  });

  it('take the first header that has a value', async () => {
    const headers = headersOf([
      ['x-remote-user', ''],
      ['x-other-user', 'second'],
    ]);
    await expect(chain()({ ...nothing, clientCertificate: proxy, headers })).resolves.toMatchObject({ name: 'second' });
  });

  it.each([
    ['a name that is not allowed', certificate(frontCa, 'stranger', [])],
    ['the right name of an unknown CA', certificate(otherCa, 'front-proxy', [])],
  ])('are refused with a certificate of %s', async (_, clientCertificate) => {
    await expect(chain()({ ...nothing, clientCertificate, headers: jane })).rejects.toMatchObject(UNAUTHORIZED);
  });

  it('mean nothing with a certificate of the client CA, which counts itself', async () => {
    const clientCertificate = certificate(clientCa, 'front-proxy', ['people']);
    await expect(chain()({ ...nothing, clientCertificate, headers: jane })).resolves.toEqual({
      name: 'front-proxy',
      groups: ['people', 'system:authenticated'],
    });
  });

  it('mean nothing without a certificate', async () => {
    await expect(chain()({ ...nothing, headers: jane })).resolves.toMatchObject({ name: 'system:anonymous' });
    await expect(chain()({ ...nothing, headers: jane, bearerToken: '#bob#token' })).resolves.toMatchObject({
      name: 'bob',
    });
  });

  it('without a user leave the proxy itself, which the client CA does not know', async () => {
    const headers = headersOf([['x-remote-group', 'system:masters']]);
    await expect(chain()({ ...nothing, clientCertificate: proxy, headers })).rejects.toMatchObject(UNAUTHORIZED);
  });
});

describe('the token authenticators together', () => {
  const knows = (name: string) => () => ({ user: { name, groups: [] } });
  const refuses = (refused: string) => async () => ({ refused });

  it('stop at the first that knows the user, even after one that refuses', async () => {
    const authenticate = authenticateTokenUnion([() => undefined, refuses('bad'), knows('a'), knows('b')]);
    await expect(authenticate('t', [])).resolves.toMatchObject({ user: { name: 'a' } });
  });

  it('say what each that refuses says, once', async () => {
    expect(authenticateTokenUnion([() => undefined])('t', [])).toEqual({ refused: 'invalid bearer token' });
    await expect(authenticateTokenUnion([refuses('x'), refuses('x'), refuses('y')])('t', [])).resolves.toEqual({
      refused: '[invalid bearer token, x, y]',
    });
  });
});
