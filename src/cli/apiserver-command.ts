import { GROUPS } from '../api/kinds/groups';
import { standardErrorOutput } from '../observability/log-output';
import { createLogger, type LogFormat } from '../observability/logger';
import { admissionFromFlags } from './admission-flags';
import { defaultAdvertiseAddress } from './advertise-address';
import { startServer } from './api-server';
import { apiserverFlags, type ApiserverOptions } from './apiserver-flags';
import { authenticationFromFlags, authenticationProblems, signingKeyFromFlags } from './authentication-flags';
import { authorizationFromFlags, authorizationProblems } from './authorization-flags';
import { certificateDirectory, certificatePaths, loadCertificates, protectCertificates } from './certificates';
import { describeFlags, parseFlags, UsageError } from './flag-table';
import { parseFeatureGates } from './feature-gates';
import { ignoredFlags } from './ignored-flags';
import { openStore } from './open-store';
import { flowControlConflict, parseRuntimeConfig } from './runtime-config';
import { serviceRangesFromFlags } from './service-range-flags';
import { http2Options, http2Problems } from './http2-flags';
import { tlsProblems, tlsProtocol } from './tls-flags';
import { TlsMaterial } from './tls-material';
import { unbuiltFlags } from './unbuilt-flags';
import { optimizeSoon } from './v8-flags';
import { VERSION } from './version';
import { shareMetrics } from './worker-metrics';
import { isWorker, leave, reportServing, runWorkers, untilStopped } from './workers';

/** kube-apiserver's `-v` from which on requests are logged. */
const REQUESTS_VERBOSITY = 3;

/** Who knows only "sternpost dev" waits in vain for a deleted namespace to go. */
const NO_CONTROLLERS =
  'no controllers run in this process: without any, deleted namespaces stay and new ones get no service account. ' +
  'Run "sternpost controller-manager --kubeconfig ..." ("sternpost kubeconfig" makes one) or kube-controller-manager';

/** All problems of the options, before anything starts. */
function problemsOf(options: ApiserverOptions): readonly string[] {
  const { tlsCertFile, tlsPrivateKeyFile, etcdCertfile, etcdKeyfile, etcdServers, workers, loggingFormat } = options;
  return [
    ...authenticationProblems(options),
    ...authorizationProblems(options),
    ...tlsProblems(options),
    ...http2Problems(options),
    ...((tlsCertFile === '') === (tlsPrivateKeyFile === '')
      ? []
      : ['--tls-cert-file and --tls-private-key-file go together']),
    ...((etcdCertfile === '') === (etcdKeyfile === '') ? [] : ['--etcd-certfile and --etcd-keyfile go together']),
    ...(['', 'json', 'text'].includes(loggingFormat)
      ? []
      : [`--logging-format ${JSON.stringify(loggingFormat)} is not one of json, text`]),
    ...(workers < 1 ? ['--workers must be at least 1'] : []),
    ...(workers > 1 && etcdServers.length === 0
      ? ['--workers needs --etcd-servers: the embedded store belongs to one process']
      : []),
  ];
}

/** `sternpost apiserver`: serves until SIGTERM, then ends gracefully. */
export async function apiserverCommand(argv: readonly string[]): Promise<void> {
  const { options, warnings } = parseFlags(apiserverFlags, argv, ignoredFlags, unbuiltFlags);
  if (options.help) {
    process.stdout.write(
      `sternpost apiserver: the API server, with kube-apiserver's flags.\n\n${describeFlags(apiserverFlags)}`,
    );
    return;
  }
  if (options.version) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const features = parseFeatureGates(options.featureGates);
  const admission = admissionFromFlags(options, features.gates);
  const services = serviceRangesFromFlags(options, features.gates.IPv6DualStack);
  const runtime = parseRuntimeConfig(options.runtimeConfig, GROUPS);
  const problems = [
    ...problemsOf(options),
    ...features.problems,
    ...runtime.problems,
    ...flowControlConflict(options.runtimeConfig, features.gates.APIPriorityAndFairness),
    ...services.problems,
    ...admission.problems,
  ];
  if (problems.length > 0) throw new UsageError(problems);

  const logger = createLogger(options.loggingFormat === '' ? {} : { format: options.loggingFormat as LogFormat });
  for (const warning of [...warnings, ...features.warnings, ...runtime.warnings, ...admission.warnings])
    logger.warn(warning);
  const advertiseAddress = options.advertiseAddress || defaultAdvertiseAddress();
  const directory = certificateDirectory(options.dataDir, options.certDir);
  protectCertificates(directory, (message) => logger.warn(message));
  const makingSigningKey = signingKeyFromFlags(options, directory);
  const load = () => loadCertificates(directory, options, [advertiseAddress], new Date());
  const certificates = load();
  const tls = new TlsMaterial(certificates, {
    load,
    files: certificatePaths(options),
    protocol: tlsProtocol(options),
    logger,
  });
  const authorization = authorizationFromFlags(options);
  const anonymous = options.anonymousAuth && !authorization.modes.includes('AlwaysAllow');
  if (options.anonymousAuth && !anonymous) logger.warn('anonymous requests are off with the mode AlwaysAllow');
  if (!isWorker()) logger.info(NO_CONTROLLERS);
  if (options.workers > 1 && !isWorker()) {
    // What is made on the first start is made by now, once for all of them.
    await makingSigningKey;
    tls.close();
    return runWorkers(options.workers, logger);
  }
  const stopped = untilStopped();
  const [{ store, keyRoot }, signingKey] = await Promise.all([openStore(options, logger), makingSigningKey]);
  const authentication = authenticationFromFlags(options, signingKey);
  const server = await startServer({
    store,
    keyRoot,
    certificates,
    tls,
    http2: http2Options(options),
    bindAddress: options.bindAddress,
    securePort: options.securePort,
    advertiseAddress,
    serviceRanges: services.ranges,
    authentication: { ...authentication, anonymous },
    authorization,
    admission: admission.admission,
    featureGates: features.gates,
    isServed: runtime.isServed,
    eventTtlMs: options.eventTtl,
    requestTimeoutMs: options.requestTimeout,
    minRequestTimeoutSeconds: options.minRequestTimeout,
    inFlightLimits: { readOnly: options.maxRequestsInflight, mutating: options.maxMutatingRequestsInflight },
    shutdownDelayMs: options.shutdownDelayDuration,
    livezGraceMs: options.livezGracePeriod,
    logger,
    logRequests: options.v >= REQUESTS_VERBOSITY,
    checkLog: standardErrorOutput().check,
    ...(isWorker() ? { shareMetrics } : {}),
  });
  logger.info({ port: server.port, version: VERSION }, 'serving');
  reportServing();
  // A server that cannot become ready ends the command.
  const failed = server.ready.then(() => {
    optimizeSoon();
    return new Promise<never>(() => undefined);
  });
  const signal = await Promise.race([stopped, failed]);
  logger.info({ signal }, 'shutting down');
  await server.stop();
  await store.close();
  leave();
}
