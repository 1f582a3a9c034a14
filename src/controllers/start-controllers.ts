import type { SigningKey } from '../pki/signing-keys';
import type { RequestSigner } from '../pki/sign-request';
import { startBootstrapSigner } from './bootstrap-tokens/bootstrap-signer';
import { startTokenCleaner } from './bootstrap-tokens/token-cleaner';
import { startCertificateApproving } from './certificates/approving';
import { startCertificateCleaner } from './certificates/cleaner';
import { startCertificateSigning } from './certificates/signing';
import type { SignerName } from './certificates/signing-request';
import { startClusterRoleAggregation } from './clusterrole-aggregation';
import type { Controller, ControllerParts } from './controller';
import { startGarbageCollector } from './garbage-collector/garbage-collector';
import { startLegacyTokenCleaner } from './legacy-token-cleaner';
import { startNamespaceController } from './namespace';
import { startPodGarbageCollector } from './pod-garbage-collector';
import { startResourceQuotaController } from './resource-quota';
import { startRootCaCertPublisher } from './root-ca-cert-publisher';
import { startServiceAccountController } from './service-account';
import { startServiceAccountTokenController } from './service-account-token';
import { startTtlAfterFinished } from './ttl-after-finished';

/** What the controllers share, and what some of them need. */
export interface ControllerContext extends ControllerParts {
  /** PEM of the API server's CA, published to pods; undefined: the controllers that need it stay off. */
  readonly rootCertificates: string | undefined;
  /** Signs the tokens of token secrets; undefined: there are none. */
  readonly signingKey: SigningKey | undefined;
  /** The authorities behind the built-in signers; none: nothing is signed. */
  readonly signers: Readonly<Partial<Record<SignerName, RequestSigner>>>;
  /** How long a certificate holds at most. */
  readonly signingDurationMs: number;
  /** As many ended pods stay; 0 or less: all of them. */
  readonly terminatedPodThreshold: number;
  /** How long a token of a secret may be unused. */
  readonly legacyTokenPeriodMs: number;
}

/** kube-controller-manager's defaults. */
export const DEFAULT_SIGNING_DURATION_MS = 365 * 24 * 60 * 60_000;
export const DEFAULT_TERMINATED_PODS = 12_500;
export const DEFAULT_LEGACY_TOKEN_PERIOD_MS = 365 * 24 * 60 * 60_000;

interface Entry {
  readonly start: (context: ControllerContext) => Controller | undefined;
  /** What later releases of kube-controller-manager call it. */
  readonly alias: string;
  /** Only on when it is named. */
  readonly offByDefault?: boolean;
}

/** Every controller, by the name that `--controllers` knows. */
const CONTROLLERS: Readonly<Record<string, Entry>> = {
  namespace: { alias: 'namespace-controller', start: startNamespaceController },
  serviceaccount: { alias: 'serviceaccount-controller', start: startServiceAccountController },
  'serviceaccount-token': {
    alias: 'serviceaccount-token-controller',
    start: ({ signingKey, rootCertificates = '', ...parts }) =>
      signingKey && startServiceAccountTokenController(parts, { signingKey, rootCertificates }),
  },
  'root-ca-cert-publisher': {
    alias: 'root-ca-certificate-publisher-controller',
    start: ({ rootCertificates, ...parts }) =>
      rootCertificates === undefined ? undefined : startRootCaCertPublisher(parts, rootCertificates),
  },
  'clusterrole-aggregation': { alias: 'clusterrole-aggregation-controller', start: startClusterRoleAggregation },
  resourcequota: { alias: 'resourcequota-controller', start: startResourceQuotaController },
  garbagecollector: { alias: 'garbage-collector-controller', start: startGarbageCollector },
  podgc: {
    alias: 'pod-garbage-collector-controller',
    start: ({ terminatedPodThreshold, ...parts }) =>
      startPodGarbageCollector(parts, { terminatedThreshold: terminatedPodThreshold, now: Date.now }),
  },
  'ttl-after-finished': {
    alias: 'ttl-after-finished-controller',
    start: (parts) => startTtlAfterFinished(parts, Date.now),
  },
  csrsigning: {
    alias: 'certificatesigningrequest-signing-controller',
    start: ({ signers, signingDurationMs, ...parts }) =>
      Object.keys(signers).length === 0
        ? undefined
        : startCertificateSigning(parts, { signers, durationMs: signingDurationMs, now: Date.now }),
  },
  csrapproving: { alias: 'certificatesigningrequest-approving-controller', start: startCertificateApproving },
  csrcleaner: {
    alias: 'certificatesigningrequest-cleaner-controller',
    start: (parts) => startCertificateCleaner(parts, Date.now),
  },
  'legacy-service-account-token-cleaner': {
    alias: 'legacy-serviceaccount-token-cleaner-controller',
    start: ({ legacyTokenPeriodMs, ...parts }) =>
      startLegacyTokenCleaner(parts, { periodMs: legacyTokenPeriodMs, now: Date.now }),
  },
  bootstrapsigner: {
    alias: 'bootstrap-signer-controller',
    offByDefault: true,
    start: (parts) => startBootstrapSigner(parts, Date.now),
  },
  tokencleaner: {
    alias: 'token-cleaner-controller',
    offByDefault: true,
    start: (parts) => startTokenCleaner(parts, Date.now),
  },
};

export const CONTROLLER_NAMES: readonly string[] = Object.keys(CONTROLLERS);
export const OFF_BY_DEFAULT = CONTROLLER_NAMES.filter((name) => CONTROLLERS[name]?.offByDefault === true);

/**
 * The controllers that a `--controllers` list selects: `*` is all that are on by default, `name` turns one on, `-name` off;
 * the first that speaks of a controller counts.
 */
export function selectControllers(list: readonly string[]): readonly string[] {
  return CONTROLLER_NAMES.filter((name) => {
    const names = namesOf(name);
    const said = list.find((entry) => names.includes(entry.replace(/^-/, '')));
    return said === undefined ? list.includes('*') && !OFF_BY_DEFAULT.includes(name) : !said.startsWith('-');
  });
}

/** Names in the list that are no controllers of this process; those of other controllers of Kubernetes may be among them. */
export function unknownControllers(list: readonly string[]): readonly string[] {
  const known = CONTROLLER_NAMES.flatMap(namesOf);
  return list.filter((entry) => entry !== '*' && !known.includes(entry.replace(/^-/, '')));
}

export function startControllers(names: readonly string[], context: ControllerContext): readonly Controller[] {
  return names.flatMap((name) => CONTROLLERS[name]?.start(context) ?? []);
}

function namesOf(name: string): readonly string[] {
  return [name, CONTROLLERS[name]?.alias ?? name];
}
