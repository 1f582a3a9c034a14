import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { writePrivateFile } from '../files/private-files';
import { signingAlgorithm } from './jwt';
import { readPrivateKey } from './pem-files';

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g;

/** A key that verifies tokens. */
export interface VerificationKey {
  readonly id: string;
  readonly publicKey: KeyObject;
}

/** A key that signs tokens. */
export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject;
}

/** The hash of the public key: the same key has the same id on every replica. */
function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url');
}

/**
 * The public keys of a PEM text, which may hold public keys, private keys and certificates, several of them. Throws
 * when it holds none.
 */
export function parseVerificationKeys(pem: string): readonly VerificationKey[] {
  const keys = [...pem.matchAll(PEM_BLOCK)]
    .filter(([, label = '']) => label !== 'EC PARAMETERS')
    .map(([block]) => {
      const publicKey = createPublicKey(block);
      return { id: keyIdOf(publicKey), publicKey };
    });
  if (keys.length === 0) throw new Error('data does not contain any valid RSA or ECDSA public keys');
  return keys;
}

/** The private key of a PEM text. Throws when there is none, or one that signs no tokens. */
export function parseSigningKey(pem: string): SigningKey {
  const block = [...pem.matchAll(PEM_BLOCK)].find(([, label = '']) => label.endsWith('PRIVATE KEY'))?.[0];
  if (block === undefined) throw new Error('data does not contain a private key');
  const privateKey = createPrivateKey(block);
  const publicKey = createPublicKey(privateKey);
  signingAlgorithm(publicKey);
  return { id: keyIdOf(publicKey), publicKey, privateKey };
}

/** The signing key of a file; `advice` ends the message about a file that is no good. */
export function readSigningKey(file: string, advice: string): SigningKey {
  return parseSigningKey(readPrivateKey(file, advice));
}

/**
 * The signing key kept in a file; made on first use, readable by its owner only. Making one takes up to a second, beside
 * what else happens.
 */
export async function loadOrCreateSigningKey(file: string): Promise<SigningKey> {
  if (existsSync(file))
    return readSigningKey(file, 'Restore it from a backup, or remove it to have a new one made, which ends all tokens');
  const pem = await createSigningKey();
  writePrivateFile(file, pem);
  return parseSigningKey(pem);
}

/** A new key that signs tokens, as PEM. */
export async function createSigningKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}

/** The key as others get it to verify tokens (RFC 7517). */
export function toJwk({ id, publicKey }: VerificationKey): Readonly<Record<string, unknown>> {
  const { kty, ...fields } = publicKey.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: id, alg: signingAlgorithm(publicKey), ...fields };
}
