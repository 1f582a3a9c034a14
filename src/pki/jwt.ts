import { constants, sign, verify, type KeyObject } from 'node:crypto';

/** JSON Web Tokens in compact form (RFC 7515, 7519), signed with asymmetric keys only. */
export interface Jwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  /** What the signature is over. */
  readonly signedText: string;
  readonly signature: Buffer;
}

interface Algorithm {
  readonly keyType: 'rsa' | 'ec' | 'ed25519';
  readonly hash: string | null;
  readonly pss?: true;
  /** The only curve of the algorithm. */
  readonly curve?: string;
}

const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  RS256: { keyType: 'rsa', hash: 'sha256' },
  RS384: { keyType: 'rsa', hash: 'sha384' },
  RS512: { keyType: 'rsa', hash: 'sha512' },
  PS256: { keyType: 'rsa', hash: 'sha256', pss: true },
  PS384: { keyType: 'rsa', hash: 'sha384', pss: true },
  PS512: { keyType: 'rsa', hash: 'sha512', pss: true },
  ES256: { keyType: 'ec', hash: 'sha256', curve: 'prime256v1' },
  ES384: { keyType: 'ec', hash: 'sha384', curve: 'secp384r1' },
  ES512: { keyType: 'ec', hash: 'sha512', curve: 'secp521r1' },
  EdDSA: { keyType: 'ed25519', hash: null },
};

/** Longer tokens are not looked at. */
const MAX_TOKEN_CHARACTERS = 256 * 1024;

/** Takes a token apart without believing it; undefined for what is no JWT of three parts. */
export function parseJwt(token: string): Jwt | undefined {
  if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  const [head = '', body = '', tail = ''] = parts;
  const header = parsePart(head);
  const claims = parsePart(body);
  if (header === undefined || claims === undefined) return undefined;
  return { header, claims, signedText: `${head}.${body}`, signature: Buffer.from(tail, 'base64url') };
}

function parsePart(part: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^[\w-]+$/.test(part)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the key made the signature by the algorithm that the header names. `none` and the symmetric algorithms are in
 * no table, so that a public key can never be taken for a shared secret; a header with `crit` is refused, as RFC 7515
 * demands of those who understand no extensions.
 */
export function isSignedBy({ header, signedText, signature }: Jwt, key: KeyObject): boolean {
  const algorithm = typeof header.alg === 'string' ? algorithmOf(header.alg) : undefined;
  if (algorithm === undefined || header.crit !== undefined || !fits(algorithm, key)) return false;
  try {
    return verify(algorithm.hash, Buffer.from(signedText), signingOptions(algorithm, key), signature);
  } catch {
    return false;
  }
}

export function isSigningAlgorithm(name: string): boolean {
  return algorithmOf(name) !== undefined;
}

function algorithmOf(name: string): Algorithm | undefined {
  return Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined;
}

function fits({ keyType, curve }: Algorithm, key: KeyObject): boolean {
  if (key.asymmetricKeyType !== keyType) return false;
  return curve === undefined || key.asymmetricKeyDetails?.namedCurve === curve;
}

function signingOptions({ pss, keyType }: Algorithm, key: KeyObject) {
  return {
    key,
    ...(keyType === 'ec' ? { dsaEncoding: 'ieee-p1363' as const } : {}),
    ...(pss === true ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {}),
  };
}

/** The algorithm that this server signs with for a key. Throws for keys that sign no tokens. */
export function signingAlgorithm(key: KeyObject): string {
  const candidates = ['RS256', 'ES256', 'ES384', 'ES512', 'EdDSA'];
  const name = candidates.find((candidate) => {
    const algorithm = algorithmOf(candidate);
    return algorithm !== undefined && fits(algorithm, key);
  });
  if (name === undefined) throw new Error(`a key of type ${key.asymmetricKeyType ?? 'unknown'} signs no tokens`);
  return name;
}

/** A signed token with these claims; `keyId` goes into the header. */
export function signJwt(claims: object, key: KeyObject, keyId: string): string {
  const name = signingAlgorithm(key);
  const algorithm = algorithmOf(name);
  if (algorithm === undefined) throw new Error(`no such algorithm: ${name}`);
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const text = `${encode({ alg: name, kid: keyId })}.${encode(claims)}`;
  const signature = sign(algorithm.hash, Buffer.from(text), signingOptions(algorithm, key));
  return `${text}.${signature.toString('base64url')}`;
}
