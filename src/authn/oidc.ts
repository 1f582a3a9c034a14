import { isSignedBy, parseJwt, type Jwt } from '../pki/jwt';
import type { AuthenticationResult, TokenAuthenticator } from './credentials';
import { withDistributedClaim } from './oidc-distributed-claims';
import type { OidcKeys } from './oidc-keys';

/** `--oidc-*`. */
export interface OidcOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Undefined: the issuer and `#` for every claim but email. `-`: none. */
  readonly usernamePrefix: string | undefined;
  /** Empty: no groups. */
  readonly groupsClaim: string;
  readonly groupsPrefix: string;
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly signingAlgorithms: readonly string[];
  readonly keys: Pick<OidcKeys, 'some'>;
  /** The keys of another issuer, who stands for a claim that a token only points at. */
  readonly keysOf: (issuer: string) => Pick<OidcKeys, 'some'>;
  /** Fetches such a claim, with the access token of its source. Throws an error that says why not. */
  readonly fetchText: (url: string, bearerToken: string | undefined) => Promise<string>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

type Claims = Readonly<Record<string, unknown>>;

/** A token may be used this much before its `nbf`; after its `exp` not at all. */
const NOT_BEFORE_LEEWAY_SECONDS = 5 * 60;

class InvalidToken extends Error {}

/**
 * OpenID Connect: ID tokens of one issuer for one client. Tokens of other issuers are left to others; what is wrong with
 * one of this issuer refuses it.
 */
export function oidcAuthenticator(options: OidcOptions): TokenAuthenticator {
  return (token) => {
    const jwt = parseJwt(token);
    if (jwt === undefined || jwt.claims.iss !== options.issuer) return undefined;
    return authenticate(jwt, options);
  };
}

async function authenticate(jwt: Jwt, options: OidcOptions): Promise<AuthenticationResult> {
  try {
    await verify(jwt, options.keys, options);
    const claims = await withGroups(jwt.claims, options);
    checkRequired(claims, options.requiredClaims);
    return { user: { name: nameOf(claims, options), groups: groupsOf(claims, options) } };
  } catch (error) {
    // The issuer cannot be asked: its tokens prove nothing now, and the other authenticators go on.
    return { refused: `oidc: ${(error as Error).message}` };
  }
}

async function withGroups(claims: Claims, options: OidcOptions): Promise<Claims> {
  const { groupsClaim, fetchText, keysOf } = options;
  if (groupsClaim === '') return claims;
  return withDistributedClaim(claims, groupsClaim, {
    fetchText,
    verify: (jwt, issuer) => verify(jwt, issuer === options.issuer ? options.keys : keysOf(issuer), options),
  });
}

async function verify(
  jwt: Jwt,
  keys: OidcOptions['keys'],
  { clientId, signingAlgorithms, now }: OidcOptions,
): Promise<void> {
  const { header, claims } = jwt;
  const { aud, exp, nbf } = claims;
  const audiences = Array.isArray(aud) ? (aud as readonly unknown[]) : [aud];
  if (!audiences.includes(clientId)) {
    throw new InvalidToken(
      `verify token: expected audience ${JSON.stringify(clientId)} got ${JSON.stringify(aud ?? [])}`,
    );
  }
  const nowSeconds = now() / 1000;
  const end = numericDate(exp);
  const start = numericDate(nbf);
  if (end === undefined || end < nowSeconds) throw new InvalidToken('verify token: token is expired');
  if (nbf !== undefined && (start === undefined || start > nowSeconds + NOT_BEFORE_LEEWAY_SECONDS)) {
    throw new InvalidToken('verify token: current time before the nbf (not before) time');
  }
  const { alg, kid } = header;
  if (typeof alg !== 'string' || !signingAlgorithms.includes(alg)) {
    throw new InvalidToken(`verify token: id token signed with unsupported algorithm`);
  }
  const id = typeof kid === 'string' && kid !== '' ? kid : undefined;
  if (!(await keys.some(id, (key) => isSignedBy(jwt, key)))) {
    throw new InvalidToken('verify token: failed to verify signature: failed to verify id token signature');
  }
}

/** Some issuers write the number as a text. */
function numericDate(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && JSON_NUMBER.test(value) ? Number(value) : undefined;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function checkRequired(claims: Claims, required: Readonly<Record<string, string>>): void {
  for (const [name, wanted] of Object.entries(required)) {
    if (!Object.hasOwn(claims, name)) throw new InvalidToken(`required claim ${name} not present in ID token`);
    if (typeof claims[name] !== 'string') throw new InvalidToken(`parse claim ${name}: not a string`);
    if (claims[name] !== wanted) {
      throw new InvalidToken(`required claim ${name} value does not match. Got = ${claims[name]}, want = ${wanted}`);
    }
  }
}

function nameOf(claims: Claims, { usernameClaim, usernamePrefix, issuer }: OidcOptions): string {
  // Null says nothing, as the empty text does; with a prefix that is a name all the same.
  const name = Object.hasOwn(claims, usernameClaim) ? (claims[usernameClaim] ?? '') : undefined;
  if (typeof name !== 'string') throw new InvalidToken(`parse username claims ${JSON.stringify(usernameClaim)}`);
  if (usernameClaim === 'email' && Object.hasOwn(claims, 'email_verified') && claims.email_verified !== true) {
    throw new InvalidToken('email not verified');
  }
  const prefix = usernamePrefix === '-' ? '' : (usernamePrefix ?? (usernameClaim === 'email' ? '' : `${issuer}#`));
  if (prefix === '' && name === '') throw new InvalidToken(`parse username claims ${JSON.stringify(usernameClaim)}`);
  return prefix + name;
}

/** A single group may come as a string. */
function groupsOf(claims: Claims, { groupsClaim, groupsPrefix }: OidcOptions): readonly string[] {
  if (groupsClaim === '' || !Object.hasOwn(claims, groupsClaim)) return [];
  const value = claims[groupsClaim];
  if (value === null) return [];
  const groups: readonly unknown[] = Array.isArray(value) ? value : [value];
  return groups.map((group) => {
    if (typeof group !== 'string') throw new InvalidToken(`parse groups claim ${JSON.stringify(groupsClaim)}`);
    return `${groupsPrefix}${group}`;
  });
}
