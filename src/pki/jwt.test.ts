import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { isSignedBy, isSigningAlgorithm, parseJwt, signingAlgorithm, signJwt, type Jwt } from './jwt';
import { foreignJwt } from './jwt.fixture';

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PAIRS: readonly (readonly [string, Pair])[] = [
  ['RS256', rsa],
  ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
  ['ES512', generateKeyPairSync('ec', { namedCurve: 'P-521' })],
  ['EdDSA', generateKeyPairSync('ed25519')],
];
const CLAIMS = { iss: 'https://issuer', sub: 'u', 'kubernetes.io': { namespace: 'ns' } };

function parsed(token: string): Jwt {
  const jwt = parseJwt(token);
  if (jwt === undefined) throw new Error('no token');
  return jwt;
}

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');

describe.each(PAIRS)('a token of %s', (algorithm, { publicKey, privateKey }) => {
  it('says who made it, and with which key', async () => {
    expect(signingAlgorithm(publicKey)).toBe(algorithm);
    expect(parseJwt(await signJwt(CLAIMS, privateKey, 'k'))).toMatchObject({
      header: { alg: algorithm, kid: 'k' },
      claims: CLAIMS,
    });
  });

  it('is believed with its own key only, ours and others alike', async () => {
    for (const token of [await signJwt(CLAIMS, privateKey, 'k'), foreignJwt(CLAIMS, privateKey, 'k')]) {
      for (const [name, pair] of PAIRS) {
        await expect(isSignedBy(parsed(token), pair.publicKey)).resolves.toBe(name === algorithm);
      }
      await expect(isSignedBy(parsed(token), publicKey.export({ format: 'jwk' }) as never)).resolves.toBe(true);
    }
  });

  it('is not believed when anything in it has changed', async () => {
    const [head = '', body = '', tail = ''] = foreignJwt(CLAIMS, privateKey, 'k').split('.');
    const changed = [
      `${encode({ alg: algorithm, kid: 'x' })}.${body}.${tail}`,
      `${head}.${encode({ ...CLAIMS, sub: 'root' })}.${tail}`,
      `${head}.${body}.${tail.slice(0, -8)}`,
      `${head}.${body}.`,
    ];
    for (const token of changed) await expect(isSignedBy(parsed(token), publicKey)).resolves.toBe(false);
  });
});

describe('a token', () => {
  it.each([
    ['nothing', ''],
    ['two parts', 'e30.e30'],
    ['four parts', 'e30.e30.e30.e30'],
    ['no JSON', 'x.y.z'],
    ['an array of claims', `${encode({ alg: 'RS256' })}.${encode([])}.x`],
    ['null as a header', `${encode(null)}.${encode({})}.x`],
    ['more than anybody needs', `${encode({ alg: 'RS256' })}.${encode({ a: 'a'.repeat(300_000) })}.x`],
  ])('of %s is none', (_, token) => {
    expect(parseJwt(token)).toBeUndefined();
  });

  it('is not believed without a signature, nor with the public key taken for a shared secret', async () => {
    const body = encode(CLAIMS);
    const text = `${encode({ alg: 'HS256' })}.${body}`;
    const secret = rsa.publicKey.export({ type: 'spki', format: 'pem' });
    const forged = `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    await expect(isSignedBy(parsed(forged), rsa.publicKey)).resolves.toBe(false);
    await expect(isSignedBy(parsed(`${encode({ alg: 'none' })}.${body}.`), rsa.publicKey)).resolves.toBe(false);
    expect([isSigningAlgorithm('HS256'), isSigningAlgorithm('none')]).toEqual([false, false]);
  });

  it.each([
    ['that must be understood', { crit: ['exp'] }],
    ['about how it is encoded', { crit: ['b64'], b64: false }],
  ])('is not believed with an extension %s', async (_, header) => {
    await expect(isSignedBy(parsed(foreignJwt(CLAIMS, rsa.privateKey, 'k', header)), rsa.publicKey)).resolves.toBe(
      false,
    );
  });

  it('is not signed with a key of another kind', () => {
    expect(() => signingAlgorithm(generateKeyPairSync('x25519').publicKey)).toThrow('a key of type x25519');
    expect(() => signingAlgorithm(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey)).toThrow();
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
    expect(() => signingAlgorithm(short)).toThrow('an RSA key of 1024 bits signs no tokens: 2048 are the least');
  });
});
