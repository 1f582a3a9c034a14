import type { KeyObject } from 'node:crypto';
import {
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  SignJWT,
  type JWK,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from 'jose';

/** A JSON Web Token in compact form (RFC 7515, 7519) as it says of itself, which is not to be believed yet. */
export interface Jwt {
  readonly token: string;
  readonly header: Readonly<ProtectedHeaderParameters>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A key as its owner publishes it (RFC 7517). */
export type PublicJwk = JWK;

/**
 * What may sign. Neither `none` nor the symmetric algorithms are among them, so that a public key can never be taken for a
 * shared secret.
 */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** By the names of OpenSSL. */
const CURVE_ALGORITHMS: ReadonlyMap<string | undefined, string> = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
  ['secp521r1', 'ES512'],
]);

/** Shorter keys are refused by the library, as RFC 7518 (3.3) demands. */
const MIN_RSA_BITS = 2048;

/** Longer tokens are not looked at. */
const MAX_TOKEN_CHARACTERS = 256 * 1024;

/** Takes a token apart without believing it; undefined for what is no JWT of three parts. */
export function parseJwt(token: string): Jwt | undefined {
  if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
  try {
    return { token, header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/**
 * Whether the key made the signature, by the algorithm that the header names. A header with `crit` is refused, as RFC 7515
 * demands of those who understand no extensions.
 */
export async function isSignedBy({ token, header }: Jwt, key: KeyObject | PublicJwk): Promise<boolean> {
  if (header.crit !== undefined) return false;
  try {
    await compactVerify(token, key, { algorithms: ALGORITHMS });
    return true;
  } catch {
    // Beside jose's own errors: TypeError and DOMException for a key of another kind than the algorithm's.
    return false;
  }
}

export function isSigningAlgorithm(name: string): boolean {
  return ALGORITHMS.includes(name);
}

/** The algorithm that this server signs with for a key. Throws for keys that sign no tokens. */
export function signingAlgorithm({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  if (asymmetricKeyType === 'rsa') {
    const bits = asymmetricKeyDetails?.modulusLength ?? 0;
    if (bits < MIN_RSA_BITS)
      throw new Error(`an RSA key of ${bits} bits signs no tokens: ${MIN_RSA_BITS} are the least`);
    return 'RS256';
  }
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  const name = asymmetricKeyType === 'ec' ? CURVE_ALGORITHMS.get(asymmetricKeyDetails?.namedCurve) : undefined;
  if (name === undefined) throw new Error(`a key of type ${asymmetricKeyType ?? 'unknown'} signs no tokens`);
  return name;
}

/** A signed token with these claims; `keyId` goes into the header. */
export function signJwt(claims: JWTPayload, key: KeyObject, keyId: string): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: signingAlgorithm(key), kid: keyId }).sign(key);
}
