import type { FeatureGates } from '../api/kinds/feature-gates';
import { GROUPS } from '../api/kinds/groups';
import type { UserInfo } from '../api/user';
import { standardErrorOutput } from '../observability/log-output';
import type { Extension } from '../http/application/extension';
import type { Logger } from '../observability/logger';
import type { SigningKey } from '../pki/signing-keys';
import { admissionFromFlags } from './admission-flags';
import { defaultAdvertiseAddress } from './advertise-address';
import { startServer, type RunningApiServer } from '../apiserver/api-server';
import type { ApiServerOptions } from '../apiserver/options';
import type { ApiserverOptions } from './apiserver-flags';
import { aggregatorProblems, proxyClientFromFlags } from './aggregator-flags';
import { auditFromFlags, auditProblems, auditWarnings } from './audit-flags';
import { authenticationFromFlags, authenticationProblems, signingKeyFromFlags } from './authentication-flags';
import { authorizationFromFlags, authorizationProblems } from './authorization-flags';
import {
  certificateDirectory,
  certificatePaths,
  loadCertificates,
  protectCertificates,
  type ServingCertificates,
} from '../apiserver/certificates';
import { parseFeatureGates } from '../api/kinds/feature-gates';
import { extensionsFromFlags } from './extension-flags';
import { UsageError } from './flag-table';
import { healthAddress, healthProblems } from './health-flags';
import { http2Options, http2Problems } from './http2-flags';
import { kubeletOptions, kubeletProblems } from './kubelet-flags';
import { ETCD_CLIENTS, openStore } from './open-store';
import { flowControlConflict, parseRuntimeConfig } from '../resources/runtime-config';
import { serviceRangesFromFlags } from './service-range-flags';
import { tlsProblems, tlsProtocol } from './tls-flags';
import { problemsOfEncryption } from './encryption-flags';
import { encrypted, openEncryption } from './open-encryption';
import { tracingFromFlags, tracingProblems } from './tracing-flags';
import { emulatedRelease, versionProblems } from './version-flags';
import { TlsMaterial } from '../apiserver/tls-material';
import { DEFAULT_RELEASE } from '../api/kubernetes-release';

/** kube-apiserver's `-v` from which on requests are logged. */
const REQUESTS_VERBOSITY = 3;

/** The flags of `sternpost apiserver`, read and without a fault that can be seen before anything starts. */
export interface CheckedFlags {
  readonly options: ApiserverOptions;
  readonly features: ReturnType<typeof parseFeatureGates>;
  readonly admission: ReturnType<typeof admissionFromFlags>;
  readonly services: ReturnType<typeof serviceRangesFromFlags>;
  readonly runtime: ReturnType<typeof parseRuntimeConfig>;
  readonly warnings: readonly string[];
}

/** What is wrong with flags that do not fit together. */
function problemsOf(options: ApiserverOptions): readonly string[] {
  const { tlsCertFile, tlsPrivateKeyFile, etcdCertfile, etcdKeyfile, etcdServers, workers, loggingFormat } = options;
  return [
    ...authenticationProblems(options),
    ...authorizationProblems(options),
    ...auditProblems(options),
    ...tlsProblems(options),
    ...http2Problems(options),
    ...healthProblems(options),
    ...versionProblems(options),
    ...tracingProblems(options),
    ...kubeletProblems(options),
    ...aggregatorProblems(options),
    ...((tlsCertFile === '') === (tlsPrivateKeyFile === '')
      ? []
      : ['--tls-cert-file and --tls-private-key-file go together']),
    ...((etcdCertfile === '') === (etcdKeyfile === '') ? [] : ['--etcd-certfile and --etcd-keyfile go together']),
    ...(ETCD_CLIENTS.includes(options.etcdClient)
      ? []
      : [`--etcd-client ${JSON.stringify(options.etcdClient)} is not one of ${ETCD_CLIENTS.join(', ')}`]),
    ...(['', 'json', 'text'].includes(loggingFormat)
      ? []
      : [`--logging-format ${JSON.stringify(loggingFormat)} is not one of json, text`]),
    ...(workers < 1 ? ['--workers must be at least 1'] : []),
    ...(workers > 1 && etcdServers.length === 0
      ? ['--workers needs --etcd-servers: the embedded store belongs to one process']
      : []),
  ];
}

function hasPriorityAndFairness(options: ApiserverOptions, gates: FeatureGates): boolean {
  return options.enablePriorityAndFairness && gates.APIPriorityAndFairness;
}

function flowControlProblems(options: ApiserverOptions, gates: FeatureGates): readonly string[] {
  const { maxRequestsInflight: reads, maxMutatingRequestsInflight: writes } = options;
  return [
    ...(reads < 0 ? ['--max-requests-inflight can not be negative value'] : []),
    ...(writes < 0 ? ['--max-mutating-requests-inflight can not be negative value'] : []),
    ...(hasPriorityAndFairness(options, gates) && reads + writes <= 0
      ? [
          '--enable-priority-and-fairness divides --max-requests-inflight and --max-mutating-requests-inflight, which are both 0',
        ]
      : []),
  ];
}

/** Throws {@link UsageError} with all problems of the options at once. */
export function checkFlags(options: ApiserverOptions, parseWarnings: readonly string[]): CheckedFlags {
  const features = parseFeatureGates(options.featureGates);
  const admission = admissionFromFlags(options, features.gates);
  const services = serviceRangesFromFlags(options, features.gates.IPv6DualStack);
  const runtime = parseRuntimeConfig(options.runtimeConfig, GROUPS);
  const problems = [
    ...problemsOf(options),
    ...problemsOfEncryption(options),
    ...features.problems,
    ...runtime.problems,
    ...flowControlConflict(options.runtimeConfig, hasPriorityAndFairness(options, features.gates)),
    ...flowControlProblems(options, features.gates),
    ...services.problems,
    ...admission.problems,
  ];
  if (problems.length > 0) throw new UsageError(problems);
  const warnings = [
    ...parseWarnings,
    ...auditWarnings(options),
    ...features.warnings,
    ...runtime.warnings,
    ...admission.warnings,
  ];
  return { options, features, admission, services, runtime, warnings };
}

export function logsRequests({ options }: CheckedFlags): boolean {
  return options.v >= REQUESTS_VERBOSITY;
}

/** Keys and certificates, made on the first start; several processes of one replica make them once. */
export interface ServerMaterial {
  readonly advertiseAddress: string;
  readonly certificates: ServingCertificates;
  readonly tls: TlsMaterial;
  readonly signingKey: Promise<SigningKey>;
}

/**
 * Reads or makes the keys and certificates that the flags ask for. `addresses` are further ones under which clients reach
 * the server; `extend` adds to the certificates, each time that they are read. The caller closes `tls`.
 */
export function prepareMaterial(
  { options }: CheckedFlags,
  logger: Logger,
  addresses: readonly string[] = [],
  extend: (certificates: ServingCertificates) => ServingCertificates = (certificates) => certificates,
): ServerMaterial {
  const advertiseAddress = options.advertiseAddress || defaultAdvertiseAddress();
  const directory = certificateDirectory(options.dataDir, options.certDir);
  protectCertificates(directory, (message) => logger.warn(message));
  const signingKey = signingKeyFromFlags(options, directory);
  // Its caller learns of its failure; an earlier one is told first.
  signingKey.catch(() => undefined);
  const load = () => extend(loadCertificates(directory, options, [advertiseAddress, ...addresses], new Date()));
  const certificates = load();
  const files = certificatePaths(options);
  const tls = new TlsMaterial(certificates, { load, files, protocol: tlsProtocol(options), logger });
  return { advertiseAddress, certificates, tls, signingKey };
}

/** What the flags do not say. */
export interface ServerExtras extends Pick<ApiServerOptions, 'shareMetrics'> {
  readonly logRequests?: boolean;
  /** Routes of others, besides those of `--extension`. */
  readonly extensions?: readonly Extension[];
  /** Users by the digests of their tokens, besides those of `--token-auth-file`. */
  readonly tokenUsers?: ReadonlyMap<string, UserInfo>;
  /** Called when the embedded store has to be opened again, which takes another process. */
  readonly onStoreLost?: (error: Error) => void;
}

export interface StartedServer {
  readonly server: RunningApiServer;
  readonly signingKey: SigningKey;
  /** Ends the server, then the store. */
  readonly stop: () => Promise<void>;
}

/** Opens the store that the flags name and starts the server. What was started is ended when a part fails, `material` included. */
export async function startFromFlags(
  flags: CheckedFlags,
  material: ServerMaterial,
  logger: Logger,
  extras: ServerExtras = {},
): Promise<StartedServer> {
  const { options } = flags;
  const { certificates, tls, advertiseAddress } = material;
  const encryption = openEncryption(options, logger);
  const opening = openStore(options, logger, extras.onStoreLost).then((opened) => encrypted(opened, encryption));
  try {
    const [{ store, keyRoot }, signingKey] = await Promise.all([opening, material.signingKey]);
    const { tokenUsers, onStoreLost: _, ...rest } = extras;
    const authorization = authorizationFromFlags(options);
    const anonymous = options.anonymousAuth && !authorization.modes.includes('AlwaysAllow');
    const server = await startServer({
      store,
      keyRoot,
      encryption,
      certificates,
      tls,
      http2: http2Options(options),
      kubelets: kubeletOptions(
        options,
        {
          names: [...options.requestheaderUsernameHeaders, ...options.requestheaderGroupHeaders],
          prefixes: options.requestheaderExtraHeadersPrefix,
        },
        (error) => logger.warn({ err: error }, 'changed files for kubelets cannot be used yet'),
      ),
      proxyClient: proxyClientFromFlags(options, (error) =>
        logger.warn({ err: error }, 'the changed client certificate for other API servers cannot be used yet'),
      ),
      bindAddress: options.bindAddress,
      securePort: options.securePort,
      advertiseAddress,
      serviceRanges: flags.services.ranges,
      authentication: {
        ...authenticationFromFlags(options, signingKey),
        anonymous,
        ...(tokenUsers === undefined ? {} : { tokenUsers }),
      },
      authorization,
      admission: flags.admission.admission,
      audit: auditFromFlags(options),
      tracing: tracingFromFlags(options),
      featureGates: flags.features.gates,
      isServed: flags.runtime.isServed,
      eventTtlMs: options.eventTtl,
      routesToEndpoints: options.enableAggregatorRouting,
      requestTimeoutMs: options.requestTimeout,
      minRequestTimeoutSeconds: options.minRequestTimeout,
      priorityAndFairness: hasPriorityAndFairness(options, flags.features.gates),
      inFlightLimits: { readOnly: options.maxRequestsInflight, mutating: options.maxMutatingRequestsInflight },
      healthAddress: healthAddress(options.healthzBindAddress),
      release: emulatedRelease(options.emulatedVersion) ?? DEFAULT_RELEASE,
      shutdownDelayMs: options.shutdownDelayDuration,
      livezGraceMs: options.livezGracePeriod,
      logger,
      verbosity: options.v,
      profiling: options.profiling,
      checkLog: standardErrorOutput().check,
      ...rest,
      extensions: [...(extras.extensions ?? []), ...extensionsFromFlags(options)],
      logRequests: extras.logRequests ?? false,
    });
    const stop = async (): Promise<void> => {
      await server.stop();
      await store.close();
      encryption?.close();
    };
    return { server, signingKey, stop };
  } catch (error) {
    tls.close();
    encryption?.close();
    await opening.then(
      ({ store }) => store.close(),
      () => undefined,
    );
    throw error;
  }
}
