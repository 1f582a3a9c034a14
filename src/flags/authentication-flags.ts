import { join } from 'node:path';
import { namedBy, readNamedText } from '../files/named-file';
import { isSigningAlgorithm } from '../pki/jwt';
import { loadOrCreateSigningKey, readSigningKey, parseVerificationKeys, type SigningKey } from '../pki/signing-keys';
import type { AuthenticationOptions, ServiceAccountKeys, ServiceAccountOptions } from '../apiserver/authentication';
import type { FlagTable, OptionsOf } from './flag-table';

/** The flags that say how requests prove who sent them. */
export const authenticationFlags = {
  'client-ca-file': {
    type: 'string',
    section: 'Authentication',
    help:
      'CA of client certificates: CN is the user, each O a group. Generated when absent, unless --tls-cert-file is ' +
      'given. Read again when it changes.',
  },
  'token-auth-file': {
    type: 'string',
    section: 'Authentication',
    help: 'CSV file of token, user, uid and optional quoted groups.',
  },
  'anonymous-auth': {
    type: 'bool',
    section: 'Authentication',
    default: 'true',
    help: 'Requests without credentials act as system:anonymous; off with the authorization mode AlwaysAllow.',
  },
  'enable-bootstrap-token-auth': {
    type: 'bool',
    section: 'Authentication',
    help: 'Tokens out of bootstrap.kubernetes.io/token secrets of kube-system are accepted.',
  },
  'api-audiences': {
    type: 'strings',
    section: 'Authentication',
    help: 'Audiences of this server, of which tokens must name one; default: the issuer of service account tokens.',
  },
  'service-account-api-audiences': {
    type: 'strings',
    section: 'Authentication',
    help: 'Deprecated: use --api-audiences.',
  },
  'service-account-issuer': {
    type: 'stringArray',
    section: 'Authentication',
    help: 'Issuer of service account tokens; further ones are accepted. Default: https://kubernetes.default.svc.',
  },
  'service-account-key-file': {
    type: 'stringArray',
    section: 'Authentication',
    help: 'PEM keys that verify service account tokens; default: the signing key.',
  },
  'service-account-signing-key-file': {
    type: 'string',
    section: 'Authentication',
    help: 'PEM key that signs service account tokens; generated when neither it nor an issuer is given.',
  },
  'service-account-jwks-uri': {
    type: 'string',
    section: 'Authentication',
    help: 'Where others find the keys, as the discovery document says; default: this server.',
  },
  'service-account-lookup': {
    type: 'bool',
    section: 'Authentication',
    default: 'true',
    help: 'The secret and the account of a token out of a secret must still be there.',
  },
  'service-account-max-token-expiration': {
    type: 'duration',
    section: 'Authentication',
    default: '0s',
    help: 'Longest life of a requested token; longer requests get this. 0: no bound.',
  },
  'service-account-extend-token-expiration': {
    type: 'bool',
    section: 'Authentication',
    default: 'true',
    help:
      'Tokens that admission gives to pods live for a year instead of an hour; their use after the hour is told by a ' +
      'metric and the audit log.',
  },
  'requestheader-client-ca-file': {
    type: 'string',
    section: 'Authentication',
    help: 'CA of authenticating proxies, whose headers are believed. Read again when it changes.',
  },
  'requestheader-allowed-names': {
    type: 'strings',
    section: 'Authentication',
    help: 'Common names of the certificates of authenticating proxies; empty: any.',
  },
  'requestheader-username-headers': {
    type: 'strings',
    section: 'Authentication',
    help: 'Headers with the name of the user; the first that is there counts. X-Remote-User is common.',
  },
  'requestheader-group-headers': {
    type: 'strings',
    section: 'Authentication',
    help: 'Headers with groups. X-Remote-Group is suggested.',
  },
  'requestheader-extra-headers-prefix': {
    type: 'strings',
    section: 'Authentication',
    help: 'Prefixes of headers with further attributes. X-Remote-Extra- is suggested.',
  },
  'authentication-token-webhook-config-file': {
    type: 'string',
    section: 'Authentication',
    help: 'Kubeconfig of a webhook that is asked about tokens with TokenReviews.',
  },
  'authentication-token-webhook-version': {
    type: 'string',
    section: 'Authentication',
    default: 'v1beta1',
    help: 'Version of the TokenReviews that are sent: v1 or v1beta1.',
  },
  'authentication-token-webhook-cache-ttl': {
    type: 'duration',
    section: 'Authentication',
    default: '2m0s',
    help: 'How long answers of the webhook are believed.',
  },
  'oidc-issuer-url': {
    type: 'string',
    section: 'Authentication',
    help: 'URL of the OpenID provider whose tokens are accepted; https only.',
  },
  'oidc-client-id': { type: 'string', section: 'Authentication', help: 'Client for which the tokens must be issued.' },
  'oidc-ca-file': {
    type: 'string',
    section: 'Authentication',
    help: "CA of the OpenID provider; default: the system's.",
  },
  'oidc-username-claim': {
    type: 'string',
    section: 'Authentication',
    default: 'sub',
    help: 'Claim that is the name of the user.',
  },
  'oidc-username-prefix': {
    type: 'string',
    section: 'Authentication',
    help: 'Prefix of the names; default: the issuer and # for claims other than email. "-" for none.',
  },
  'oidc-groups-claim': { type: 'string', section: 'Authentication', help: 'Claim with the groups.' },
  'oidc-groups-prefix': { type: 'string', section: 'Authentication', help: 'Prefix of the groups.' },
  'oidc-required-claim': {
    type: 'pairs',
    section: 'Authentication',
    help: 'claim=value that tokens must have; may be repeated.',
  },
  'oidc-signing-algs': {
    type: 'strings',
    section: 'Authentication',
    default: 'RS256',
    help: 'Asymmetric algorithms with which tokens may be signed.',
  },
} as const satisfies FlagTable;

export type AuthenticationFlags = OptionsOf<typeof authenticationFlags>;

const DEFAULT_ISSUER = 'https://kubernetes.default.svc';
const WEBHOOK_VERSIONS = ['v1', 'v1beta1'] as const;

/** What is wrong with the flags, before any file is read. */
export function authenticationProblems(flags: AuthenticationFlags): readonly string[] {
  const { oidcIssuerUrl, oidcClientId, oidcSigningAlgs } = flags;
  const signing = [flags.serviceAccountSigningKeyFile !== '', flags.serviceAccountIssuer.length > 0];
  const maxSeconds = flags.serviceAccountMaxTokenExpiration / 1000;
  const unknownAlgorithm = oidcSigningAlgs.find((name) => !isSigningAlgorithm(name) || name === 'EdDSA');
  return [
    ...(signing.includes(true) && signing.includes(false)
      ? ['--service-account-signing-key-file and --service-account-issuer should be specified together']
      : []),
    ...(flags.serviceAccountKeyFile.length > 0 && !signing.includes(true)
      ? ['--service-account-key-file goes with --service-account-signing-key-file and --service-account-issuer']
      : []),
    ...flags.serviceAccountIssuer
      .filter((issuer) => issuer.includes(':') && !URL.canParse(issuer))
      .map((issuer) => `service-account-issuer ${JSON.stringify(issuer)} contained a ':' but was not a valid URL`),
    ...(maxSeconds === 0 || (maxSeconds >= 3600 && maxSeconds <= 2 ** 32)
      ? []
      : ['the service-account-max-token-expiration must be between 1 hour and 2^32 seconds']),
    ...headerNameProblems(flags),
    ...(flags.serviceAccountJwksUri !== '' && !flags.serviceAccountJwksUri.startsWith('https:')
      ? ['service-account-jwks-uri requires https scheme']
      : []),
    ...((oidcIssuerUrl === '') === (oidcClientId === '')
      ? []
      : ['oidc-issuer-url and oidc-client-id should be specified together']),
    ...(oidcIssuerUrl !== '' && !oidcIssuerUrl.startsWith('https:')
      ? [`'oidc-issuer-url' (${JSON.stringify(oidcIssuerUrl)}) has invalid scheme, require 'https'`]
      : []),
    ...(unknownAlgorithm === undefined ? [] : [`oidc: unsupported signing alg: ${JSON.stringify(unknownAlgorithm)}`]),
    ...(flags.authenticationTokenWebhookConfigFile !== '' &&
    !WEBHOOK_VERSIONS.some((version) => version === flags.authenticationTokenWebhookVersion)
      ? [
          `unsupported authentication webhook version ${JSON.stringify(flags.authenticationTokenWebhookVersion)}, ` +
            'supported versions are "v1", "v1beta1"',
        ]
      : []),
  ];
}

/** An empty name of a header, or of the proxy, would match what was not meant. */
function headerNameProblems(flags: AuthenticationFlags): readonly string[] {
  const lists = {
    'requestheader-username-headers': flags.requestheaderUsernameHeaders,
    'requestheader-group-headers': flags.requestheaderGroupHeaders,
    'requestheader-extra-headers-prefix': flags.requestheaderExtraHeadersPrefix,
    'requestheader-allowed-names': flags.requestheaderAllowedNames,
  };
  return Object.entries(lists).flatMap(([flag, names]) =>
    names.some((name) => name.trim() === '') ? [`empty value in ${JSON.stringify(flag)}`] : [],
  );
}

/** The options of the flags; keys are read, or made below `directory`. Throws when a file cannot be read. */
export function authenticationFromFlags(flags: AuthenticationFlags, signingKey: SigningKey): AuthenticationOptions {
  const { oidcIssuerUrl, authenticationTokenWebhookConfigFile: webhookFile } = flags;
  return {
    anonymous: flags.anonymousAuth,
    tokenFile: flags.tokenAuthFile,
    bootstrapTokens: flags.enableBootstrapTokenAuth,
    requestHeader:
      flags.requestheaderClientCaFile === ''
        ? undefined
        : {
            allowedNames: flags.requestheaderAllowedNames,
            userHeaders: flags.requestheaderUsernameHeaders,
            groupHeaders: flags.requestheaderGroupHeaders,
            extraPrefixes: flags.requestheaderExtraHeadersPrefix,
          },
    serviceAccounts: serviceAccountsFromFlags(flags, signingKey),
    oidc:
      oidcIssuerUrl === ''
        ? undefined
        : {
            issuer: oidcIssuerUrl,
            clientId: flags.oidcClientId,
            caFile: flags.oidcCaFile,
            usernameClaim: flags.oidcUsernameClaim,
            usernamePrefix: flags.oidcUsernamePrefix === '' ? undefined : flags.oidcUsernamePrefix,
            groupsClaim: flags.oidcGroupsClaim,
            groupsPrefix: flags.oidcGroupsPrefix,
            requiredClaims: flags.oidcRequiredClaim,
            signingAlgorithms: flags.oidcSigningAlgs,
          },
    webhook:
      webhookFile === ''
        ? undefined
        : {
            configFile: webhookFile,
            version: flags.authenticationTokenWebhookVersion === 'v1' ? 'v1' : 'v1beta1',
            cacheTtlMs: flags.authenticationTokenWebhookCacheTtl,
          },
  };
}

function serviceAccountsFromFlags(flags: AuthenticationFlags, signingKey: SigningKey): ServiceAccountOptions {
  const keyFiles = flags.serviceAccountKeyFile;
  const signingFile = flags.serviceAccountSigningKeyFile;
  const files = [...keyFiles, signingFile].filter((file) => file !== '');
  const load = (key: SigningKey): ServiceAccountKeys => ({
    signingKey: key,
    keys: keyFiles.length === 0 ? [key] : keyFiles.flatMap((keyFile) => readVerificationKeys(keyFile)),
  });
  const issuers = flags.serviceAccountIssuer.length > 0 ? flags.serviceAccountIssuer : [DEFAULT_ISSUER];
  const seconds = flags.serviceAccountMaxTokenExpiration / 1000;
  return {
    issuers,
    ...load(signingKey),
    ...(files.length === 0
      ? {}
      : { keyFiles: { files, load: () => load(signingFile === '' ? signingKey : readNamedSigningKey(signingFile)) } }),
    lookup: flags.serviceAccountLookup,
    maxLifetimeSeconds: seconds > 0 ? seconds : undefined,
    extendLifetime: flags.serviceAccountExtendTokenExpiration,
    keysUrl: flags.serviceAccountJwksUri,
    audiences: firstGiven(flags.apiAudiences, flags.serviceAccountApiAudiences, issuers.slice(0, 1)),
  };
}

function firstGiven(...lists: readonly (readonly string[])[]): readonly string[] {
  return lists.find((list) => list.length > 0) ?? [];
}

function readVerificationKeys(file: string): ReturnType<typeof parseVerificationKeys> {
  const text = readNamedText(file, 'service-account-key-file');
  try {
    return parseVerificationKeys(text);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}. ${namedBy('service-account-key-file')}`, { cause: error });
  }
}

function readNamedSigningKey(file: string): SigningKey {
  return readSigningKey(file, namedBy('service-account-signing-key-file'));
}

/** The key that the flags name, else one of our own in `directory`. */
export async function signingKeyFromFlags(flags: AuthenticationFlags, directory: string): Promise<SigningKey> {
  const file = flags.serviceAccountSigningKeyFile;
  return file === '' ? loadOrCreateSigningKey(signingKeyFile(directory)) : readNamedSigningKey(file);
}

/** Where a generated signing key is kept. */
export function signingKeyFile(directory: string): string {
  return join(directory, 'service-account.key');
}

/** How a control plane of our own does it: client certificates and tokens of service accounts, with generated keys. */
export function ownAuthentication(signingKey: SigningKey): AuthenticationOptions {
  return {
    anonymous: true,
    tokenFile: '',
    bootstrapTokens: true,
    requestHeader: undefined,
    serviceAccounts: {
      issuers: [DEFAULT_ISSUER],
      signingKey,
      keys: [signingKey],
      lookup: true,
      maxLifetimeSeconds: undefined,
      extendLifetime: true,
      keysUrl: '',
      audiences: [DEFAULT_ISSUER],
    },
    oidc: undefined,
    webhook: undefined,
  };
}
