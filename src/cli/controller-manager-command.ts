import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Gauge, Registry } from 'prom-client';
import { ApiClient } from '../client/api-client';
import { KubeconfigCredentials } from '../client/kubeconfig-credentials';
import { runAsLeader } from '../client/leader-election';
import { RestClientMetrics } from '../client/rest-client-metrics';
import { createLogger } from '../observability/logger';
import { printMetrics } from '../observability/metrics-text';
import { registerProcessMetrics } from '../observability/process-metrics';
import { parseSigningKey } from '../pki/signing-keys';
import { WorkQueueMetrics } from '../observability/queue-metrics';
import {
  selectControllers,
  startControllers,
  unknownControllers,
  type ControllerContext,
} from '../controllers/start-controllers';
import { controllerManagerFlags, readGiven, readSigners } from '../flags/controller-manager-flags';
import { describeFlags, parseFlags, UsageError } from '../flags/flag-table';
import { healthAddress, healthProblems } from '../flags/health-flags';
import { listenForProbes, type HealthListener } from '../http/routes/health-listener';
import { untilSignal } from './until-signal';
import { VERSION } from '../apiserver/version';

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
  if (options.leaderElectRenewDeadline >= options.leaderElectLeaseDuration) {
    throw new UsageError(['--leader-elect-renew-deadline must be shorter than --leader-elect-lease-duration']);
  }
  const problems = healthProblems(options);
  if (problems.length > 0) throw new UsageError(problems);
  const logger = createLogger();
  const names = selectControllers(options.controllers);
  for (const name of unknownControllers(options.controllers))
    logger.warn({ name }, 'there is no controller of this name');

  const registry = new Registry();
  registerProcessMetrics(registry);
  const leads = leadershipGauge(registry, options.leaderElectResourceName);
  const credentials = new KubeconfigCredentials(options.kubeconfig, logger);
  const { tls, url } = credentials.target;
  const client = new ApiClient({
    url,
    ...tls,
    credentials,
    userAgent: `sternpost-controller-manager/${VERSION}`,
    record: new RestClientMetrics(registry).record,
  });
  const privateKey = readGiven(options.serviceAccountPrivateKeyFile);
  const context: ControllerContext = {
    client,
    logger,
    queueMetrics: new WorkQueueMetrics(registry).of,
    rootCertificates: readGiven(options.rootCaFile) ?? tls.certificateAuthority,
    signingKey: privateKey === undefined ? undefined : parseSigningKey(privateKey),
    signers: readSigners(options),
    signingDurationMs: options.clusterSigningDuration,
    terminatedPodThreshold: options.terminatedPodGcThreshold,
    legacyTokenPeriodMs: options.legacyServiceAccountTokenCleanUpPeriod,
  };

  const probes = await listenForHealth(options.healthzBindAddress, registry);
  const stop = new AbortController();
  const signalled = untilSignal().then((signal) => {
    logger.info({ signal }, 'shutting down');
    stop.abort();
  });
  const work = async (signal: AbortSignal): Promise<void> => {
    logger.info({ controllers: names }, 'controllers start');
    leads.set(1);
    const controllers = startControllers(names, context);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await Promise.all(controllers.map((controller) => controller.close()));
    leads.set(0);
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
    // Another replica leads now: a supervisor starts this process again as a candidate.
    if (!stop.signal.aborted) throw new Error('leader election lost');
  } else await work(stop.signal);
  client.close();
  await signalled;
  await probes?.close();
}

function leadershipGauge(registry: Registry, name: string): Gauge.Internal<'name'> {
  const gauge = new Gauge({
    name: 'leader_election_master_status',
    help: '1 while the controllers run in this process, 0 while it waits to become the leader.',
    labelNames: ['name'],
    registers: [registry],
  }).labels(name);
  gauge.set(0);
  return gauge;
}

/** A process that waits to become the leader is well, too. */
async function listenForHealth(bindAddress: string, registry: Registry): Promise<HealthListener | undefined> {
  const address = healthAddress(bindAddress);
  const ping = { name: 'ping', check: () => undefined };
  const checks = { livez: [ping], readyz: [ping], healthz: [ping] };
  return address && listenForProbes(address, checks, () => printMetrics(registry));
}
