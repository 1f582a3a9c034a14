import { authenticateClientCertificate } from './client-certificate';
import type { Credentials } from './credentials';
import { authenticateTokenFile, parseTokenFile } from './token-file';
import { authenticateUnion } from './union';

const file = `# users of the test
admintoken,admin,admin-uid,system:masters
alicetoken, alice ,alice-uid,"dev,qa"
bobtoken,bob,
`;

const nothing: Credentials = { bearerToken: undefined, clientCertificate: undefined };
const chain = (allowAnonymous: boolean) =>
  authenticateUnion([authenticateClientCertificate, authenticateTokenFile(parseTokenFile(file))], { allowAnonymous });

describe('the token file', () => {
  it.each([
    ['admintoken', { name: 'admin', uid: 'admin-uid', groups: ['system:masters', 'system:authenticated'] }],
    ['alicetoken', { name: 'alice', uid: 'alice-uid', groups: ['dev', 'qa', 'system:authenticated'] }],
    ['bobtoken', { name: 'bob', groups: ['system:authenticated'] }],
  ])('knows the bearer of %s', async (bearerToken, user) => {
    await expect(chain(true)({ ...nothing, bearerToken })).resolves.toEqual(user);
  });

  it('is refused when a line has too few columns', () => {
    expect(() => parseTokenFile('token,name')).toThrow('entry 1: expected at least 3 columns');
  });

  it('is refused when a quote is not closed', () => {
    expect(() => parseTokenFile('token,name,uid,"a,b')).toThrow(/quote/i);
  });
});

describe('the union of authenticators', () => {
  it('takes a request without credentials as anonymous, when that is allowed', async () => {
    await expect(chain(true)(nothing)).resolves.toEqual({
      name: 'system:anonymous',
      groups: ['system:unauthenticated'],
    });
    await expect(chain(false)(nothing)).rejects.toMatchObject({ status: { code: 401 } });
  });

  it('refuses an unknown token even when anonymous requests are allowed', async () => {
    await expect(chain(true)({ ...nothing, bearerToken: 'wrong' })).rejects.toMatchObject({ status: { code: 401 } });
  });

  it('prefers a good certificate to a token, good or bad', async () => {
    const clientCertificate = { trusted: true, commonName: 'carol', organizations: ['ops'] };
    await expect(chain(true)({ bearerToken: 'wrong', clientCertificate })).resolves.toEqual({
      name: 'carol',
      groups: ['ops', 'system:authenticated'],
    });
  });

  it('refuses a certificate of an unknown authority unless a good token comes with it', async () => {
    const clientCertificate = { trusted: false, commonName: 'carol', organizations: [] };
    await expect(chain(true)({ ...nothing, clientCertificate })).rejects.toMatchObject({ status: { code: 401 } });
    await expect(chain(true)({ bearerToken: 'bobtoken', clientCertificate })).resolves.toMatchObject({ name: 'bob' });
  });

  it('takes a certificate without a common name as no identity', async () => {
    const clientCertificate = { trusted: true, commonName: '', organizations: ['system:masters'] };
    await expect(chain(true)({ ...nothing, clientCertificate })).resolves.toMatchObject({ name: 'system:anonymous' });
  });
});
