import { parseJwt, type Jwt } from '../pki/jwt';

type Claims = Readonly<Record<string, unknown>>;

export interface DistributedClaimsOptions {
  /** Fetches what an endpoint answers, showing it the token if there is one. Throws an error that says why not. */
  readonly fetchText: (url: string, bearerToken: string | undefined) => Promise<string>;
  /** Throws unless a key that the issuer publishes signed the token, for this client and for now. */
  readonly verify: (jwt: Jwt, issuer: string) => Promise<void>;
}

/**
 * The claims together with one that they only point at (OpenID Connect Core 1.0, 5.6.2): providers whose users are in
 * many groups leave them out of the token, and `_claim_names` and `_claim_sources` say where a token with the groups is
 * to be had. Sources that hold the token itself are passed over, as kube-apiserver does. Throws when the token is not
 * to be had, is no good, or does not have the claim.
 */
export async function withDistributedClaim(
  claims: Claims,
  name: string,
  { fetchText, verify }: DistributedClaimsOptions,
): Promise<Claims> {
  const source = sourceOf(claims, name);
  if (source === undefined) return claims;
  const { endpoint, accessToken } = source;
  // The access token is a secret, and what is answered decides who the user is.
  if (!endpoint.startsWith('https:')) throw new Error(`distributed claim endpoint ${endpoint} is not https`);
  const jwt = parseJwt((await fetchText(endpoint, accessToken)).trim());
  if (jwt === undefined) throw new Error(`distributed claim endpoint ${endpoint} returned no token`);
  const { iss } = jwt.claims;
  if (typeof iss !== 'string' || !iss.startsWith('https:')) {
    throw new Error(`the token of distributed claim endpoint ${endpoint} names no issuer`);
  }
  await verify(jwt, iss);
  if (!Object.hasOwn(jwt.claims, name)) {
    throw new Error(`jwt returned by distributed claim endpoint ${endpoint} did not contain claim: ${name}`);
  }
  return { ...claims, [name]: jwt.claims[name] };
}

interface Source {
  readonly endpoint: string;
  readonly accessToken: string | undefined;
}

function sourceOf(claims: Claims, name: string): Source | undefined {
  if (Object.hasOwn(claims, name) || claims._claim_names === undefined) return undefined;
  const names = mapOf(claims._claim_names, 'names');
  if (claims._claim_sources === undefined) throw new Error('no claim sources');
  const sources = mapOf(claims._claim_sources, 'sources');
  const id = Object.hasOwn(names, name) ? names[name] : undefined;
  if (id === undefined) return undefined;
  if (typeof id !== 'string' || !Object.hasOwn(sources, id)) {
    throw new Error(`id token _claim_names contained a source ${JSON.stringify(id)} missing in _claims_sources`);
  }
  const { endpoint = '', access_token: accessToken } = mapOf(sources[id], 'sources');
  if (typeof endpoint !== 'string') throw new Error('error parsing distributed claim sources');
  if (endpoint === '') return undefined;
  return { endpoint, accessToken: typeof accessToken === 'string' && accessToken !== '' ? accessToken : undefined };
}

function mapOf(value: unknown, what: 'names' | 'sources'): Claims {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`error parsing distributed claim ${what}`);
  }
  return value as Claims;
}
