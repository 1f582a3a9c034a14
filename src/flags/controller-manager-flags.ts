import { readFileSync } from 'node:fs';
import { SIGNERS, type SignerName } from '../controllers/certificates/signing-request';
import {
  CONTROLLER_NAMES,
  DEFAULT_LEGACY_TOKEN_PERIOD_MS,
  DEFAULT_SIGNING_DURATION_MS,
  DEFAULT_TERMINATED_PODS,
  OFF_BY_DEFAULT,
} from '../controllers/start-controllers';
import { readAuthority } from '../pki/authority';
import { readPemPair } from '../pki/pem-files';
import type { RequestSigner } from '../pki/sign-request';
import { healthFlags } from './health-flags';
import { UsageError, type FlagTable, type OptionsOf } from './flag-table';

export const controllersFlag = {
  type: 'strings',
  section: 'Generic',
  default: '*',
  help:
    `Controllers to run: "*" is all that are on by default, "name" turns one on, "-name" off. ` +
    `There are ${CONTROLLER_NAMES.join(', ')}; off by default: ${OFF_BY_DEFAULT.join(', ')}.`,
} as const;

function signerFile(what: 'certificate' | 'key', signer: SignerName) {
  return {
    type: 'string',
    section: 'Certificates',
    help: `PEM ${what} of the CA for ${signer} alone, instead of --cluster-signing-*-file.`,
  } as const;
}

/** The flags of `sternpost controller-manager`; names and defaults are kube-controller-manager's. */
export const controllerManagerFlags = {
  kubeconfig: { type: 'string', section: 'Generic', help: 'Kubeconfig that leads to the API server. Required.' },
  controllers: controllersFlag,
  'service-account-private-key-file': {
    type: 'string',
    section: 'Service accounts',
    help: 'PEM key that signs the tokens of token secrets; without it there are none.',
  },
  'root-ca-file': {
    type: 'string',
    section: 'Service accounts',
    help: "CA of the API server, published to pods; default: the kubeconfig's.",
  },
  'cluster-signing-cert-file': {
    type: 'string',
    section: 'Certificates',
    help: 'PEM certificate of the CA that signs certificate requests; without it nothing is signed.',
  },
  'cluster-signing-key-file': { type: 'string', section: 'Certificates', help: 'PEM key of that CA.' },
  'cluster-signing-duration': {
    type: 'duration',
    section: 'Certificates',
    default: `${DEFAULT_SIGNING_DURATION_MS / 3_600_000}h0m0s`,
    help: 'How long a certificate holds at most; a request may ask for less.',
  },
  'cluster-signing-kubelet-serving-cert-file': signerFile('certificate', SIGNERS.kubeletServing),
  'cluster-signing-kubelet-serving-key-file': signerFile('key', SIGNERS.kubeletServing),
  'cluster-signing-kubelet-client-cert-file': signerFile('certificate', SIGNERS.kubeletClient),
  'cluster-signing-kubelet-client-key-file': signerFile('key', SIGNERS.kubeletClient),
  'cluster-signing-kube-apiserver-client-cert-file': signerFile('certificate', SIGNERS.client),
  'cluster-signing-kube-apiserver-client-key-file': signerFile('key', SIGNERS.client),
  'cluster-signing-legacy-unknown-cert-file': signerFile('certificate', SIGNERS.legacy),
  'cluster-signing-legacy-unknown-key-file': signerFile('key', SIGNERS.legacy),
  'terminated-pod-gc-threshold': {
    type: 'int',
    section: 'Garbage collection',
    default: String(DEFAULT_TERMINATED_PODS),
    help: 'As many pods that have ended are kept; 0 or less keeps all of them.',
  },
  'legacy-service-account-token-clean-up-period': {
    type: 'duration',
    section: 'Service accounts',
    default: `${DEFAULT_LEGACY_TOKEN_PERIOD_MS / 3_600_000}h0m0s`,
    help: 'Unused for so long, a generated token secret is marked as invalid, and after as long again it is deleted.',
  },
  'leader-elect': {
    type: 'bool',
    section: 'Leader election',
    default: 'true',
    help: 'Only one of several replicas works, the others wait.',
  },
  'leader-elect-lease-duration': {
    type: 'duration',
    section: 'Leader election',
    default: '15s',
    help: 'How long the others wait after the last sign of the leader.',
  },
  'leader-elect-renew-deadline': {
    type: 'duration',
    section: 'Leader election',
    default: '10s',
    help: 'How long a leader that cannot renew goes on.',
  },
  'leader-elect-retry-period': {
    type: 'duration',
    section: 'Leader election',
    default: '2s',
    help: 'Between attempts to become or stay the leader.',
  },
  'leader-elect-resource-namespace': {
    type: 'string',
    section: 'Leader election',
    default: 'kube-system',
    help: 'Namespace of the Lease.',
  },
  'leader-elect-resource-name': {
    type: 'string',
    section: 'Leader election',
    default: 'sternpost-controller-manager',
    help: 'Name of the Lease; not that of a kube-controller-manager, whose controllers are others.',
  },
  'healthz-bind-address': {
    ...healthFlags['healthz-bind-address'],
    help:
      'Address and port (0.0.0.0:10257, or :10257) of /livez, /readyz, /healthz and /metrics over plain HTTP, without ' +
      'authentication. Empty: none.',
  },
  version: { type: 'bool', section: 'Misc', help: 'Print the version and exit.' },
  help: { type: 'bool', section: 'Misc', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

export type ControllerManagerOptions = OptionsOf<typeof controllerManagerFlags>;

type Signers = Readonly<Partial<Record<SignerName, RequestSigner>>>;

/** The authorities that the flags name. Throws a {@link UsageError} when they contradict each other. */
export function readSigners(options: ControllerManagerOptions): Signers {
  const ofOne: readonly (readonly [SignerName, string, string])[] = [
    [SIGNERS.kubeletServing, options.clusterSigningKubeletServingCertFile, options.clusterSigningKubeletServingKeyFile],
    [SIGNERS.kubeletClient, options.clusterSigningKubeletClientCertFile, options.clusterSigningKubeletClientKeyFile],
    [
      SIGNERS.client,
      options.clusterSigningKubeApiserverClientCertFile,
      options.clusterSigningKubeApiserverClientKeyFile,
    ],
    [SIGNERS.legacy, options.clusterSigningLegacyUnknownCertFile, options.clusterSigningLegacyUnknownKeyFile],
  ];
  const given = ofOne.filter(([, certificate, key]) => certificate !== '' || key !== '');
  const { clusterSigningCertFile: certificateFile, clusterSigningKeyFile: keyFile } = options;
  const isForAll = certificateFile !== '' || keyFile !== '';
  const problems = [
    ...(isForAll && given.length > 0
      ? ['--cluster-signing-cert-file and --cluster-signing-key-file exclude other --cluster-signing-*-file']
      : []),
    ...((certificateFile === '') !== (keyFile === '')
      ? ['--cluster-signing-cert-file and --cluster-signing-key-file belong together']
      : []),
    ...given
      .filter(([, certificate, key]) => certificate === '' || key === '')
      .map(([name]) => `the certificate and the key for ${name} belong together`),
  ];
  if (problems.length > 0) throw new UsageError(problems);
  if (isForAll) return signersOf(readSigner(certificateFile, keyFile));
  return Object.fromEntries(given.map(([name, certificate, key]) => [name, readSigner(certificate, key)]));
}

/** One authority for all of them. */
export function signersOf(signer: RequestSigner): Signers {
  return Object.fromEntries(Object.values(SIGNERS).map((name) => [name, signer]));
}

function readSigner(certificateFile: string, keyFile: string): RequestSigner {
  return readAuthority(readPemPair(certificateFile, keyFile, 'It is named by --cluster-signing-*-file: name another'));
}

/** The whole text of a file that a flag names; undefined for none. */
export function readGiven(file: string): string | undefined {
  return file === '' ? undefined : readFileSync(file, 'utf8');
}
