import type { X509Certificate } from 'node:crypto';
import { forAudiences } from '../authn/audiences';
import { bootstrapTokenAuthenticator } from '../authn/bootstrap-token';
import { clientCertificateAuthenticator } from '../authn/client-certificate';
import type { RequestAuthenticator, TokenAuthenticator } from '../authn/credentials';
import { measuredAuthentication, type AuthenticationMetrics } from '../authn/metrics';
import { oidcAuthenticator, type OidcOptions } from '../authn/oidc';
import { OidcKeys, oidcIssuers } from '../authn/oidc-keys';
import { requestHeaderAuthenticator, type RequestHeaderOptions } from '../authn/request-header';
import { serviceAccountTokenAuthenticator } from '../authn/service-account-token';
import { cachedTokenAuthenticator } from '../authn/token-cache';
import { changingTokenFileAuthenticator, parseTokenFile, tokenFileAuthenticator } from '../authn/token-file';
import { failuresAsRefusals, tokenWebhookAuthenticator, type ReviewVersion } from '../authn/token-webhook';
import { authenticateRequest, authenticateTokenUnion, type AuthenticateRequest } from '../authn/union';
import { jsonFetcher, type JsonFetcher } from '../client/json-fetcher';
import { followFiles } from '../files/followed-files';
import { changingWebhookClient } from '../client/changing-webhook-client';
import type { KubeObject } from '../api/object';
import type { UserInfo } from '../api/user';
import { namedBy, readNamedText } from '../files/named-file';
import { WatchedFiles } from '../files/watched-files';
import type { Logger } from '../observability/logger';
import type { AuthorityBundle } from '../pki/authority-bundle';
import { readCertificates } from '../pki/pem-files';
import type { SigningKey, VerificationKey } from '../pki/signing-keys';
import type { RegistryReader } from '../resources/registry-reader';

export interface ServiceAccountKeys {
  readonly keys: readonly VerificationKey[];
  readonly signingKey: SigningKey;
}

/** The keys as they are now. */
export interface LiveServiceAccountKeys {
  readonly current: () => ServiceAccountKeys;
  readonly close: () => void;
}

export interface ServiceAccountOptions extends ServiceAccountKeys {
  /** The first is that of new tokens. */
  readonly issuers: readonly string[];
  /** Where the keys are read from, when they may change. */
  readonly keyFiles?: { readonly files: readonly string[]; readonly load: () => ServiceAccountKeys };
  readonly lookup: boolean;
  readonly maxLifetimeSeconds: number | undefined;
  /** Tokens that admission gives to pods live for a year. */
  readonly extendLifetime: boolean;
  /** Empty: where this server is. */
  readonly keysUrl: string;
  /** Of the tokens that this server accepts. */
  readonly audiences: readonly string[];
}

/** How requests prove who sent them. Files are read when the server starts. */
export interface AuthenticationOptions {
  readonly anonymous: boolean;
  readonly tokenFile: string;
  /** Further users, by the digests of their tokens. */
  readonly tokenUsers?: ReadonlyMap<string, UserInfo>;
  readonly bootstrapTokens: boolean;
  /** `--requestheader-*`, without the CA, which is part of the server's certificates. */
  readonly requestHeader: Omit<RequestHeaderOptions, 'authority'> | undefined;
  readonly serviceAccounts: ServiceAccountOptions;
  readonly oidc: (Omit<OidcOptions, 'keys' | 'keysOf' | 'fetchText' | 'now'> & { readonly caFile: string }) | undefined;
  readonly webhook:
    { readonly configFile: string; readonly version: ReviewVersion; readonly cacheTtlMs: number } | undefined;
}

/** What the authenticators look at. */
export interface AuthenticationDependencies {
  readonly reader: Pick<RegistryReader, 'getLive' | 'follow'>;
  readonly clientAuthority: () => AuthorityBundle | undefined;
  readonly frontAuthority: () => AuthorityBundle | undefined;
  readonly keys: LiveServiceAccountKeys;
  readonly metrics: AuthenticationMetrics;
  /** Writes down on which day the token of a secret was used. */
  readonly noteTokenUse: (secret: KubeObject, day: string) => void;
  /** Told at every request of the client certificate that authenticated it. */
  readonly showedCertificate?: (certificate: X509Certificate) => void;
  readonly logger: Logger;
}

export interface Authentication {
  readonly authenticate: AuthenticateRequest;
  readonly authenticateToken: TokenAuthenticator;
  close(): void;
}

/** A good token is believed this long without another look; a refusal not at all. */
const TOKEN_SUCCESS_TTL_MS = 10_000;

/** Milliseconds, never going back. */
const clock = (): number => performance.now();

/** Builds the authenticators in kube-apiserver's order. Throws when a file cannot be read or understood. */
export function createAuthentication(
  options: AuthenticationOptions,
  dependencies: AuthenticationDependencies,
): Authentication {
  const { audiences } = options.serviceAccounts;
  const closers: (() => void)[] = [];
  const tokens = tokenAuthenticators(options, dependencies, closers);
  const authenticateToken = cachedTokenAuthenticator(authenticateTokenUnion(tokens), {
    successTtlMs: TOKEN_SUCCESS_TTL_MS,
    failureTtlMs: 0,
    clock,
    ...cacheMetrics(dependencies.metrics),
  });
  const authenticate = authenticateRequest({
    authenticators: certificateAuthenticators(options, dependencies),
    authenticateToken,
    audiences,
    allowAnonymous: options.anonymous,
  });
  return {
    authenticate: measuredAuthentication(authenticate, dependencies.metrics),
    authenticateToken,
    close: () => closers.forEach((close) => close()),
  };
}

function cacheMetrics({ cacheAsked, cacheFetched }: AuthenticationMetrics) {
  return { asked: cacheAsked, fetched: cacheFetched };
}

function certificateAuthenticators(
  { requestHeader }: AuthenticationOptions,
  { clientAuthority, frontAuthority, showedCertificate }: AuthenticationDependencies,
): readonly RequestAuthenticator[] {
  const present = (authority: () => AuthorityBundle | undefined) => (): AuthorityBundle => {
    const bundle = authority();
    if (bundle === undefined) throw new Error('a CA is gone');
    return bundle;
  };
  return [
    ...(requestHeader === undefined || frontAuthority() === undefined
      ? []
      : [requestHeaderAuthenticator({ ...requestHeader, authority: present(frontAuthority) })]),
    ...(clientAuthority() === undefined
      ? []
      : [clientCertificateAuthenticator(present(clientAuthority), showedCertificate)]),
  ];
}

function tokenAuthenticators(
  { tokenFile, tokenUsers, bootstrapTokens, serviceAccounts, oidc, webhook }: AuthenticationOptions,
  { reader, keys: live, metrics, noteTokenUse, logger }: AuthenticationDependencies,
  closers: (() => void)[],
): readonly TokenAuthenticator[] {
  const now = Date.now;
  const { audiences } = serviceAccounts;
  const list: TokenAuthenticator[] = [];
  if (tokenUsers !== undefined) list.push(forAudiences(audiences, tokenFileAuthenticator(tokenUsers)));
  if (tokenFile !== '') {
    const load = (): ReadonlyMap<string, UserInfo> => {
      const { users, warnings } = parseTokenFile(readNamedText(tokenFile, 'token-auth-file'), tokenFile);
      for (const warning of warnings) logger.warn(warning);
      return users;
    };
    const users = watchFiles('token file', [tokenFile], load, logger);
    closers.push(() => users.close());
    list.push(forAudiences(audiences, changingTokenFileAuthenticator(users.current)));
  }
  list.push(
    serviceAccountTokenAuthenticator({
      ...serviceAccounts,
      keys: () => live.current().keys,
      objects: {
        getServiceAccount: (namespace, name) => reader.getLive('serviceaccounts', namespace, name),
        getSecret: (namespace, name) => reader.getLive('secrets', namespace, name),
        getPod: (namespace, name) => reader.getLive('pods', namespace, name),
        follow: (kind, namespace, name, found) => reader.follow(found, kind, namespace, name),
      },
      now,
      used: metrics.tokenUsed,
      noteUse: noteTokenUse,
    }),
  );
  if (bootstrapTokens) {
    const getSecret = (name: string) => reader.getLive('secrets', 'kube-system', name);
    const follow = (name: string, found: KubeObject) => reader.follow(found, 'secrets', 'kube-system', name);
    list.push(forAudiences(audiences, bootstrapTokenAuthenticator({ getSecret, follow, now })));
  }
  if (oidc !== undefined) {
    const { caFile } = oidc;
    const { current, close } = followFiles({
      files: () => (caFile === '' ? [] : [caFile]),
      load: () => jsonFetcher(caFile === '' ? undefined : readCertificates(caFile, namedBy('oidc-ca-file'))),
      onFailed: (error) => logger.warn({ err: error }, '--oidc-ca-file has changed and cannot be used yet'),
    });
    closers.push(close);
    const fetchJson: JsonFetcher['fetch'] = (url) => current().fetch(url);
    const fetchText: JsonFetcher['fetchText'] = (url, token) => current().fetchText(url, token);
    const keysOf = oidcIssuers((issuer) => new OidcKeys({ issuer, fetchJson, now }));
    const keys = keysOf(oidc.issuer);
    list.push(forAudiences(audiences, oidcAuthenticator({ ...oidc, keys, keysOf, fetchText, now })));
  }
  if (webhook !== undefined) {
    const { version, cacheTtlMs, configFile } = webhook;
    const peer = changingWebhookClient(configFile, logger);
    closers.push(peer.close);
    const ask = tokenWebhookAuthenticator({
      version,
      audiences,
      post: peer.post,
      failed: (error) => logger.warn({ reason: error.message }, 'the token webhook could not be asked'),
    });
    const ttls = { successTtlMs: cacheTtlMs, failureTtlMs: cacheTtlMs, clock, ...cacheMetrics(metrics) };
    list.push(failuresAsRefusals(cacheTtlMs > 0 ? cachedTokenAuthenticator(ask, ttls) : ask));
  }
  return list;
}

/** Files that may be replaced while the server runs; what is wrong with new ones is logged, and the old ones count. */
function watchFiles<T>(what: string, files: readonly string[], load: () => T, logger: Logger): WatchedFiles<T> {
  return new WatchedFiles({
    files,
    load,
    onChanged: () => logger.info({ files }, `the ${what} was read again`),
    onFailed: (error) => logger.warn({ err: error }, `the changed ${what} cannot be used yet`),
  });
}

/** The keys of service account tokens, read again when their files change. */
export function liveServiceAccountKeys(
  { keys, signingKey, keyFiles }: ServiceAccountOptions,
  logger: Logger,
): LiveServiceAccountKeys {
  const known = { keys, signingKey };
  if (keyFiles === undefined) return { current: () => known, close: () => undefined };
  const watched = watchFiles('key of service account tokens', keyFiles.files, keyFiles.load, logger);
  return { current: watched.current, close: () => watched.close() };
}
