import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { ApiClient } from '../client/api-client';
import { ExecCredentials } from '../client/exec-credential';
import { readKubeconfig } from '../client/kubeconfig-file';
import { runAsLeader } from '../client/leader-election';
import { createLogger } from '../observability/logger';
import { parseSigningKey } from '../pki/signing-keys';
import {
  CONTROLLER_NAMES,
  selectControllers,
  startControllers,
  unknownControllers,
  type ControllerContext,
} from '../controllers/start-controllers';
import { describeFlags, parseFlags, UsageError, type FlagTable } from '../flags/flag-table';
import { healthAddress, healthFlags, healthProblems } from '../flags/health-flags';
import { listenForProbes, type HealthListener } from '../http/routes/health-listener';
import { untilSignal } from './until-signal';
import { VERSION } from '../apiserver/version';

const controllerManagerFlags = {
  kubeconfig: { type: 'string', section: 'Generic', help: 'Kubeconfig that leads to the API server. Required.' },
  controllers: {
    type: 'strings',
    section: 'Generic',
    default: '*',
    help: `Controllers to run: "*" is all, "name" turns one on, "-name" off. There are ${CONTROLLER_NAMES.join(', ')}.`,
  },
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
  ...healthFlags,
  version: { type: 'bool', section: 'Misc', help: 'Print the version and exit.' },
  help: { type: 'bool', section: 'Misc', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

/** `sternpost controller-manager`: the controllers as clients of a server elsewhere, until SIGTERM. */
export async function controllerManagerCommand(argv: readonly string[]): Promise<void> {
  const { options } = parseFlags(controllerManagerFlags, argv);
  if (options.help) {
    process.stdout.write(`sternpost controller-manager: the controllers.\n\n${describeFlags(controllerManagerFlags)}`);
    return;
  }
  if (options.version) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  if (options.kubeconfig === '') throw new UsageError(['--kubeconfig is required']);
  const problems = healthProblems(options);
  if (problems.length > 0) throw new UsageError(problems);
  if (options.leaderElectRenewDeadline >= options.leaderElectLeaseDuration) {
    throw new UsageError(['--leader-elect-renew-deadline must be shorter than --leader-elect-lease-duration']);
  }
  const logger = createLogger();
  const names = selectControllers(options.controllers);
  for (const name of unknownControllers(options.controllers))
    logger.warn({ name }, 'there is no controller of this name');

  const target = readKubeconfig(options.kubeconfig);
  const { tls, exec, bearerToken, url } = target;
  const { certificateAuthority } = tls;
  const cluster = { server: url, ...(certificateAuthority === undefined ? {} : { certificateAuthority }) };
  const client = new ApiClient({
    url,
    ...tls,
    ...(bearerToken === undefined ? {} : { bearerToken }),
    ...(exec === undefined ? {} : { credentials: new ExecCredentials(exec, cluster) }),
    userAgent: `sternpost-controller-manager/${VERSION}`,
  });
  const keyFile = options.serviceAccountPrivateKeyFile;
  const context: ControllerContext = {
    client,
    logger,
    rootCertificates: options.rootCaFile === '' ? certificateAuthority : readFileSync(options.rootCaFile, 'utf8'),
    signingKey: keyFile === '' ? undefined : parseSigningKey(readFileSync(keyFile, 'utf8')),
  };

  const probes = await listenForHealth(options.healthzBindAddress);
  const stop = new AbortController();
  const signalled = untilSignal().then((signal) => {
    logger.info({ signal }, 'shutting down');
    stop.abort();
  });
  const work = async (signal: AbortSignal): Promise<void> => {
    logger.info({ controllers: names }, 'controllers start');
    const controllers = startControllers(names, context);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await Promise.all(controllers.map((controller) => controller.close()));
  };
  if (options.leaderElect) {
    await runAsLeader(
      {
        client,
        namespace: options.leaderElectResourceNamespace,
        name: options.leaderElectResourceName,
        identity: `${hostname()}_${randomUUID()}`,
        leaseDurationMs: options.leaderElectLeaseDuration,
        renewDeadlineMs: options.leaderElectRenewDeadline,
        retryPeriodMs: options.leaderElectRetryPeriod,
      },
      work,
      stop.signal,
    );
    // Another replica leads now: whoever runs this process starts it again as a candidate.
    if (!stop.signal.aborted) throw new Error('leader election lost');
  } else await work(stop.signal);
  client.close();
  await signalled;
  await probes?.close();
}

/** Who waits to become the leader is well, too. */
async function listenForHealth(bindAddress: string): Promise<HealthListener | undefined> {
  const address = healthAddress(bindAddress);
  const ping = { name: 'ping', check: () => undefined };
  return address && listenForProbes(address, { livez: [ping], readyz: [ping], healthz: [ping] });
}
