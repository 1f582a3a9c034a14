import type { AuthorityBundle } from '../pki/authority-bundle';
import type { HeaderReader, RequestAuthenticator } from './credentials';

/** `--requestheader-*` (spec, "Authentication" 3). Header names in any case. */
export interface RequestHeaderOptions {
  readonly authority: () => AuthorityBundle;
  /** Common names of the proxy's certificate; empty: any. */
  readonly allowedNames: readonly string[];
  readonly userHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/**
 * Believes the names in headers, but only those of a proxy that shows a certificate of its own CA with an allowed name.
 * Another certificate is refused here (it may still count as the client's own); without one, or without a user's name,
 * the headers mean nothing.
 */
export function requestHeaderAuthenticator(options: RequestHeaderOptions): RequestAuthenticator {
  const lower = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase());
  const { authority, allowedNames } = options;
  const userHeaders = lower(options.userHeaders);
  const groupHeaders = lower(options.groupHeaders);
  const prefixes = lower(options.extraPrefixes);
  return ({ clientCertificate, headers }) => {
    if (clientCertificate === undefined) return undefined;
    const { trusted, leaf, commonName } = clientCertificate;
    if (!trusted || !authority().vouchesFor(leaf)) return { refused: 'x509: certificate signed by unknown authority' };
    if (allowedNames.length > 0 && !allowedNames.includes(commonName)) {
      return { refused: `x509: subject with cn=${commonName} is not in the allowed list` };
    }
    const name = userHeaders.map((header) => headers.values(header)[0] ?? '').find((value) => value !== '');
    if (name === undefined) return undefined;
    const groups = groupHeaders.flatMap((header) => headers.values(header)).filter((group) => group !== '');
    const extra = readExtra(headers, prefixes);
    return { user: { name, groups, ...(Object.keys(extra).length === 0 ? {} : { extra }) } };
  };
}

function readExtra(headers: HeaderReader, prefixes: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const extra = new Map<string, readonly string[]>();
  for (const prefix of prefixes) {
    for (const header of headers.names()) {
      if (!header.startsWith(prefix)) continue;
      const key = unescapeKey(header.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), ...headers.values(header)]);
    }
  }
  return Object.fromEntries(extra);
}

/** Keys are percent-encoded where a header's name cannot hold them; what cannot be decoded is taken as it is. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
