import { sign, type KeyObject } from 'node:crypto';
import { signingAlgorithm } from './jwt';

const HASHES: Readonly<Record<string, string | null>> = {
  RS256: 'sha256',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
  EdDSA: null,
};

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** A token that others made: signed without the library that reads it. `header` may say more than has to be in it. */
export function foreignJwt(claims: object, key: KeyObject, keyId: string, header: object = {}): string {
  const alg = signingAlgorithm(key);
  const text = `${encode({ alg, kid: keyId, ...header })}.${encode(claims)}`;
  const signature = sign(HASHES[alg] ?? null, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}
