import { STATUS_REASONS, StatusError } from '../../api/errors/status-error';
import { signingAlgorithm } from '../../pki/jwt';
import { toJwk, type VerificationKey } from '../../pki/signing-keys';
import type { RequestContext } from '../request/context';
import type { NonResourceRoute } from './route';

/** What others need to verify the tokens of service accounts. */
export interface TokenIssuerDocuments {
  readonly issuer: string;
  /** Where the keys are. */
  readonly keysUrl: string;
  /** The same array as long as they stay the same. */
  readonly keys: () => readonly VerificationKey[];
}

const DISCOVERY_PATH = '/.well-known/openid-configuration';
export const KEYS_PATH = '/openid/v1/jwks';
const CACHEABLE = { 'Cache-Control': 'public, max-age=3600' };

/**
 * The documents of OpenID Connect Discovery: `/.well-known/openid-configuration` and the key set. Who asks may
 * keep them for an hour.
 */
export function oidcRoutes({ issuer, keysUrl, keys }: TokenIssuerDocuments): readonly NonResourceRoute[] {
  let made:
    { readonly of: readonly VerificationKey[]; readonly discovery: string; readonly keySet: string } | undefined;
  const documents = () => {
    const current = keys();
    if (made?.of !== current) made = { of: current, ...printDocuments(issuer, keysUrl, current) };
    return made;
  };
  const discoveryRoute = document('application/json', () => documents().discovery);
  const keysRoute = document('application/jwk-set+json', () => documents().keySet);
  return [
    { path: DISCOVERY_PATH, handler: discoveryRoute },
    { path: `${DISCOVERY_PATH}/`, unlisted: true, handler: discoveryRoute },
    { path: KEYS_PATH, handler: keysRoute },
    { path: `${KEYS_PATH}/`, unlisted: true, handler: keysRoute },
  ];
}

function printDocuments(issuer: string, keysUrl: string, keys: readonly VerificationKey[]) {
  const algorithms = [...new Set(keys.map(({ publicKey }) => signingAlgorithm(publicKey)))].sort();
  const discovery = {
    issuer,
    jwks_uri: keysUrl,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: algorithms,
  };
  return { discovery: JSON.stringify(discovery), keySet: JSON.stringify({ keys: keys.map(toJwk) }) };
}

function document(contentType: string, body: () => string): NonResourceRoute['handler'] {
  return (context) => {
    checkAccepted(context, contentType);
    return { type: 'bytes', code: 200, contentType, body: body(), headers: CACHEABLE };
  };
}

/** Each document has one form. */
function checkAccepted({ request }: RequestContext, contentType: string): void {
  const { accept = '' } = request.headers;
  const [type = ''] = contentType.split('/');
  const accepted = accept
    .split(',')
    .map((range) => (range.split(';')[0] ?? '').trim())
    .filter((range) => range !== '');
  if (accepted.length === 0 || accepted.some((range) => ['*/*', `${type}/*`, contentType].includes(range))) return;
  throw new StatusError(STATUS_REASONS.NotAcceptable, 'NotAcceptable', '406: Not Acceptable', {});
}

/**
 * The documents name the issuer as their place, so that only an https URL without query and fragment can have them
 * (OpenID Connect Discovery 1.0, 3).
 */
export function hasDiscoveryDocuments(issuer: string): boolean {
  try {
    const { protocol, search, hash } = new URL(issuer);
    return protocol === 'https:' && search === '' && hash === '';
  } catch {
    return false;
  }
}
