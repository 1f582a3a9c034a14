import { createLogger } from '../observability/logger';
import { defaultAdvertiseAddress } from './advertise-address';
import { startServer } from './api-server';
import { apiserverFlags, type ApiserverOptions } from './apiserver-flags';
import { certificateDirectory, loadCertificates } from './certificates';
import { describeFlags, parseFlags, UsageError } from './flag-table';
import { ignoredFlags } from './ignored-flags';
import { openStore } from './open-store';
import { untilSignal } from './until-signal';
import { VERSION } from './version';

const AUTHORIZATION_MODES = ['AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC'];

/** All problems of the options, before anything starts. */
function problemsOf(options: ApiserverOptions): readonly string[] {
  const { tlsCertFile, tlsPrivateKeyFile, authorizationMode, serviceClusterIpRange, etcdCertfile, etcdKeyfile } = options;
  return [
    ...authorizationMode
      .filter((mode) => !AUTHORIZATION_MODES.includes(mode))
      .map((mode) => `authorization-mode ${JSON.stringify(mode)} is not one of ${AUTHORIZATION_MODES.join(', ')}`),
    ...(authorizationMode.length === 0 ? ['at least one authorization-mode must be passed'] : []),
    ...(new Set(authorizationMode).size < authorizationMode.length ? ['authorization-mode has a mode twice'] : []),
    ...((tlsCertFile === '') === (tlsPrivateKeyFile === '')
      ? []
      : ['--tls-cert-file and --tls-private-key-file go together']),
    ...(serviceClusterIpRange.length === 1 ? [] : ['--service-cluster-ip-range takes one network']),
    ...((etcdCertfile === '') === (etcdKeyfile === '') ? [] : ['--etcd-certfile and --etcd-keyfile go together']),
  ];
}

/** `sternpost apiserver`: serves until SIGTERM, then ends gracefully. */
export async function apiserverCommand(argv: readonly string[]): Promise<void> {
  const { options, warnings } = parseFlags(apiserverFlags, argv, ignoredFlags);
  if (options.help) {
    process.stdout.write(`sternpost apiserver: the API server, with kube-apiserver's flags.\n\n${describeFlags(apiserverFlags)}`);
    return;
  }
  if (options.version) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const problems = problemsOf(options);
  if (problems.length > 0) throw new UsageError(problems);

  const logger = createLogger();
  for (const warning of warnings) logger.warn(warning);
  const advertiseAddress = options.advertiseAddress || defaultAdvertiseAddress();
  const certificates = loadCertificates(certificateDirectory(options.dataDir), options, [advertiseAddress], new Date());
  const { store, keyRoot } = await openStore(options, logger);
  const server = await startServer({
    store,
    keyRoot,
    certificates,
    bindAddress: options.bindAddress,
    securePort: options.securePort,
    advertiseAddress,
    serviceRange: options.serviceClusterIpRange[0] ?? '',
    tokenAuthFile: options.tokenAuthFile,
    anonymousAuth: options.anonymousAuth,
    authorizationModes: options.authorizationMode,
    requestTimeoutMs: options.requestTimeout,
    minRequestTimeoutSeconds: options.minRequestTimeout,
    shutdownDelayMs: options.shutdownDelayDuration,
    livezGraceMs: options.livezGracePeriod,
    logger,
  });
  logger.info({ port: server.port, version: VERSION }, 'serving');
  const signal = await untilSignal();
  logger.info({ signal }, 'shutting down');
  await server.stop();
  await store.close();
}
