import { aesCbc, aesGcm, secretbox } from './ciphers';
import { firstOf, identity, keyedTransformer, type Transformer } from './transformer';
import { seededGcm } from './kms-v2';

const KEY = Buffer.from('0123456789abcdef0123456789abcdef');
const OTHER = Buffer.from('fedcba9876543210fedcba9876543210');
const CONTEXT = '/registry/secrets/default/s';
const VALUE = Buffer.from('{"kind":"Secret"}');

describe.each([
  ['AES-GCM', aesGcm],
  ['AES-CBC', aesCbc],
  ['secretbox', secretbox],
  ['AES-GCM with a seed', seededGcm],
])('%s', (name, cipherOf) => {
  it('gives back what was sealed, whatever its length', () => {
    for (const length of [0, 1, 15, 16, 17, 1000]) {
      const value = Buffer.alloc(length, 'x');
      expect(cipherOf(KEY).open(cipherOf(KEY).seal(value, CONTEXT), CONTEXT)).toEqual(value);
    }
  });

  it('seals differently each time', () => {
    expect(cipherOf(KEY).seal(VALUE, CONTEXT)).not.toEqual(cipherOf(KEY).seal(VALUE, CONTEXT));
  });

  it('does not open with another key', () => {
    const opened = (): Buffer => cipherOf(OTHER).open(cipherOf(KEY).seal(VALUE, CONTEXT), CONTEXT);
    // AES-CBC finds out by its padding, and not always.
    if (name === 'AES-CBC') expect(outcomeOf(opened)).not.toEqual(VALUE);
    else expect(opened).toThrow();
  });

  it('does not open what is cut short', () => {
    const sealed = cipherOf(KEY).seal(VALUE, CONTEXT);
    for (const length of [0, 5, 20, sealed.length - 1]) {
      expect(() => cipherOf(KEY).open(sealed.subarray(0, length), CONTEXT)).toThrow();
    }
  });
});

function outcomeOf(work: () => Buffer): Buffer | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

it('AES-GCM does not open under another key of the store', () => {
  const sealed = aesGcm(KEY).seal(VALUE, CONTEXT);
  expect(() => aesGcm(KEY).open(sealed, '/registry/secrets/default/other')).toThrow('message authentication failed');
});

/** Made by other programs (OpenSSL, PyNaCl) with the key above. */
describe('what others have sealed is opened', () => {
  it.each<[string, Transformer, string]>([
    [
      'aesgcm',
      keyedTransformer('k8s:enc:aesgcm:v1:', [{ name: 'k', cipher: aesGcm(KEY) }]),
      'azhzOmVuYzphZXNnY206djE6azoAAQIDBAUGBwgJCgtWx9AVt3zwloqPFN0DqqUmm+QCwPKmYFxbOxFKsV7tZ2k=',
    ],
    [
      'aescbc',
      keyedTransformer('k8s:enc:aescbc:v1:', [{ name: 'k', cipher: aesCbc(KEY) }]),
      'azhzOmVuYzphZXNjYmM6djE6azoAAQIDBAUGBwgJCgsMDQ4PFT7BJhgwxlEIbPWfzljouA6zI54k94z9c4PDZvQWFqc=',
    ],
    [
      'secretbox',
      keyedTransformer('k8s:enc:secretbox:v1:', [{ name: 'k', cipher: secretbox(KEY) }]),
      'azhzOmVuYzpzZWNyZXRib3g6djE6azoAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhdquJgusuJa0COxatC8qmubty8FbR4Vc5oFVfFC7RaNFWk=',
    ],
  ])('%s', async (_name, transformer, base64) => {
    expect(await transformer.open(Buffer.from(base64, 'base64'), CONTEXT)).toEqual({ value: VALUE, isStale: false });
  });
});

describe('several providers', () => {
  const gcm = (name: string, key: Buffer): Transformer =>
    keyedTransformer('k8s:enc:aesgcm:v1:', [{ name, cipher: aesGcm(key) }]);
  const cbc = keyedTransformer('k8s:enc:aescbc:v1:', [{ name: 'k', cipher: aesCbc(KEY) }]);

  it('write with the first key of the first one, and read what all of them wrote', async () => {
    const both = firstOf([gcm('a', KEY), cbc, identity]);
    const sealed = await both.seal(VALUE, CONTEXT);
    expect(sealed.toString('latin1')).toMatch(/^k8s:enc:aesgcm:v1:a:/);
    expect(await both.open(sealed, CONTEXT)).toEqual({ value: VALUE, isStale: false });
    expect(await both.open(await cbc.seal(VALUE, CONTEXT), CONTEXT)).toEqual({ value: VALUE, isStale: true });
    expect(await both.open(VALUE, CONTEXT)).toEqual({ value: VALUE, isStale: true });
  });

  it('read with every key of a cipher, and know which is for writing', async () => {
    const rotated = keyedTransformer('k8s:enc:aesgcm:v1:', [
      { name: 'new', cipher: aesGcm(OTHER) },
      { name: 'old', cipher: aesGcm(KEY) },
    ]);
    const old = await gcm('old', KEY).seal(VALUE, CONTEXT);
    expect(await rotated.open(old, CONTEXT)).toEqual({ value: VALUE, isStale: true });
    expect(await rotated.open(await rotated.seal(VALUE, CONTEXT), CONTEXT)).toEqual({ value: VALUE, isStale: false });
  });

  it('decrypt when values are to be written as they are', async () => {
    const decrypting = firstOf([identity, gcm('a', KEY)]);
    const sealed = await gcm('a', KEY).seal(VALUE, CONTEXT);
    expect(await decrypting.open(sealed, CONTEXT)).toEqual({ value: VALUE, isStale: true });
    expect(await decrypting.seal(VALUE, CONTEXT)).toEqual(VALUE);
  });

  it('say why nobody reads a value', async () => {
    const both = firstOf([gcm('a', KEY)]);
    await expect(async () => both.open(VALUE, CONTEXT)).rejects.toThrow('no matching prefix found');
    await expect(async () => both.open(Buffer.from('k8s:enc:aesgcm:v1:b:x'), CONTEXT)).rejects.toThrow(
      'no matching key was found for the provided data',
    );
    expect(() => identity.open(Buffer.from('k8s:enc:aesgcm:v1:b:x'), CONTEXT)).toThrow(
      'identity transformer tried to read encrypted data',
    );
  });
});
