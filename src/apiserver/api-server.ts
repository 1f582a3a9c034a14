import type { Registry } from 'prom-client';
import { AuthorizationMetrics, measuredAuthorizer } from '../authz/metrics';
import { timerMs } from '../api/time/timer-limit';
import { DEFAULT_GATES, type FeatureGates } from '../api/kinds/feature-gates';
import type { AdmissionChain } from '../admission/chain';
import type { RestClientMetrics } from '../client/rest-client-metrics';
import { Verbosity } from '../observability/verbosity';
import { componentStatusEndpoints } from '../http/endpoints/component-statuses';
import { requestLog } from '../http/filters/request-log';
import { listenForProbes } from '../http/routes/health-listener';
import type { NonResourceRoute } from '../http/routes/route';
import { createServer, type ApiServer } from '../http/server';
import { BackendConnections } from '../kubelet/backend-connections';
import type { WorkQueueMetrics } from '../observability/queue-metrics';
import type { Aggregation } from '../http/proxy/pass-to-api';
import { startAccess, type Access } from './access';
import { startAdmission } from './admission';
import { startAggregation } from './aggregation';
import { authEndpoints } from './auth-endpoints';
import { createBackends } from './backends';
import { CloseStack } from './close-stack';
import { components } from './component-probes';
import { startDefinitions } from './definitions';
import { healthChecks } from './health-checks';
import { startFlowControl } from './flow-control';
import { startInstruments, type Instruments } from './instruments';
import { startPolicyStatus } from './policy-status';
import { startUpkeep } from './upkeep';
import { explainListenFailure } from './listen-failure';
import type { ApiServerOptions } from './options';
import { webhookBackends } from './webhook-backends';
import { NO_CREDENTIALS } from '../client/backend-credentials';
import { nonResourceRoutes } from './routes';
import { StartPhases } from './start-phases';
import { startStorage, type Storage } from './storage';

/** A server that answers. */
export interface RunningApiServer extends Pick<ApiServer, 'handler' | 'upgrade'> {
  readonly port: number;
  /** Of the health checks over plain HTTP, when they were asked for. */
  readonly healthPort: number | undefined;
  /** What `/metrics` shows, for others in this process to add to. */
  readonly metrics: Registry;
  readonly queues: WorkQueueMetrics;
  readonly restClient: RestClientMetrics;
  /** Resolves when the default objects are there, or the server stops before that. Rejects when the store has no space for them. */
  readonly ready: Promise<void>;
  /**
   * Ends in order: /readyz fails, the shutdown delay passes, in whose last quarter answers end their connections, watches end, requests under way finish, memory is let go.
   * The store stays open; it belongs to its opener.
   */
  stop(): Promise<void>;
}

/** The part of the shutdown delay in which clients notice nothing but /readyz. In the rest of it they are sent away. */
const SERVED_AS_BEFORE = 0.75;

/**
 * Builds every part once, lowest floor first, and listens. Resolves as soon as requests are answered; what a fresh
 * cluster has is created right after, and /readyz says when that is done. What was begun is ended when a part fails.
 */
export async function startServer(options: ApiServerOptions): Promise<RunningApiServer> {
  const parts = new CloseStack();
  try {
    return await startParts(options, parts);
  } catch (error) {
    await parts.close().catch(() => undefined);
    throw error;
  }
}

async function startParts(options: ApiServerOptions, parts: CloseStack): Promise<RunningApiServer> {
  const { logger, tls } = options;
  const gates = options.featureGates ?? DEFAULT_GATES;
  const phases = new StartPhases();
  const instruments = startInstruments(options, parts);
  const storage = await startStorage(options, gates, instruments, parts);
  const backends = createBackends(options, storage, instruments, parts);
  const callConversion = webhookBackends({
    ...backends,
    credentialsFor: () => NO_CREDENTIALS,
    ownAuthority: options.certificates.servingAuthority,
  });
  const [access, customResources] = await Promise.all([
    startAccess(options, storage, instruments, phases, parts),
    startDefinitions(storage, instruments, callConversion, phases, logger, parts),
  ]);
  const aggregation = startAggregation(options, storage, backends, instruments.registry, parts);
  const admission = await startAdmission(options, { storage, access, instruments, backends }, phases, parts);
  const flowControl = await startFlowControl(storage, instruments.fairness, phases, logger, parts);
  const policyStatus = await startPolicyStatus(storage, logger, parts);
  let isStopping = false;
  const health = instruments.healthMetrics.counted(
    healthChecks({
      ...options,
      phases,
      isStopping: () => isStopping,
      keyServices: options.encryption?.checks ?? [],
    }),
  );
  const probes = options.healthAddress === undefined ? undefined : await listenForProbes(options.healthAddress, health);
  if (probes !== undefined) parts.add(() => probes.close());
  const verbosity = new Verbosity(logger, options.verbosity ?? 0, options.logRequests);
  const routes = nonResourceRoutes(options, gates, storage, access, instruments, health, verbosity, aggregation.apis);
  const server = httpServer(options, gates, {
    storage,
    access,
    instruments,
    admission,
    routes,
    verbosity,
    aggregation,
  });
  parts.add(() => tls.close());
  parts.add(() => server.close());
  const port = await listen(server, options);
  backends.listensOn(port);
  const upkeep = await startUpkeep({
    options,
    gates,
    storage,
    instruments,
    customResources,
    flowControl,
    policyStatus,
    phases,
    port,
  });
  return {
    port,
    healthPort: probes?.port,
    metrics: instruments.registry,
    queues: instruments.queues,
    restClient: instruments.restClient,
    handler: server.handler,
    upgrade: server.upgrade,
    ready: upkeep.ready,
    stop: async () => {
      isStopping = true;
      const draining = setTimeout(() => server.drain(), timerMs(options.shutdownDelayMs * SERVED_AS_BEFORE));
      await upkeep.stop();
      clearTimeout(draining);
      server.drain();
      await parts.close();
    },
  };
}

interface HttpParts {
  readonly storage: Storage;
  readonly access: Access;
  readonly instruments: Instruments;
  readonly admission: AdmissionChain;
  readonly routes: readonly NonResourceRoute[];
  readonly verbosity: Verbosity;
  readonly aggregation: Aggregation;
}

/** What answers, given what decides. */
function httpServer(
  options: ApiServerOptions,
  gates: FeatureGates,
  { storage, access, instruments, admission, routes, verbosity, aggregation }: HttpParts,
): ApiServer {
  const { authentication, authorization, serviceAccountKeys } = access;
  const { serviceAccounts } = options.authentication;
  return createServer({
    ...instruments,
    catalogue: storage.catalogue,
    fieldOwnership: storage.ownership,
    features: {
      compression: gates.APIResponseCompression,
      listChunking: gates.APIListChunking,
      remainingItemCount: gates.RemainingItemCount,
      warnings: gates.WarningHeaders,
    },
    admission,
    authenticate: authentication.authenticate,
    authorize: measuredAuthorizer(authorization.authorize, new AuthorizationMetrics(instruments.registry)),
    specialEndpoints: new Map([
      ...componentStatusEndpoints(components(storage.store)),
      ...authEndpoints(authentication, authorization, serviceAccounts, serviceAccountKeys),
    ]),
    requestTimeoutMs: options.requestTimeoutMs,
    minRequestTimeoutSeconds: options.minRequestTimeoutSeconds,
    logRequest: requestLog(options.logger, () => verbosity.logsRequests),
    nonResourceRoutes: routes,
    extensions: options.extensions ?? [],
    tls: options.tls.tls,
    http2: options.http2,
    aggregation,
    backends: new BackendConnections(options.kubelets),
    host: options.bindAddress,
    port: options.securePort,
    logger: options.logger,
  });
}

/** The port that it listens on; renewed certificates are taken from then on. */
async function listen(server: ApiServer, { bindAddress, securePort, tls }: ApiServerOptions): Promise<number> {
  const { port } = await server.listen().catch((error: unknown) => {
    throw explainListenFailure(error, bindAddress, securePort);
  });
  tls.onChanged((changed) => server.setSecureContext(changed));
  return port;
}
