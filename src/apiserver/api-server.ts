import { limitRememberedShapes, MOST_SHAPE_BYTES } from '../api/apply/shape';
import { setMaxListeners } from 'node:events';
import { Registry } from 'prom-client';
import { CATALOGUE } from '../api/kinds/catalogue';
import { service } from '../api/kinds/core/service';
import { GROUPS } from '../api/kinds/groups';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { admissionChain } from '../admission/chain';
import { AdmissionMetrics } from '../admission/metrics';
import { PolicyMetrics } from '../admission/policies/metrics';
import type { CallBackend } from '../admission/webhooks/call';
import { servedVersions } from '../admission/webhooks/served-versions';
import type { WebhookType } from '../admission/webhooks/webhook';
import { AuthenticationMetrics } from '../authn/metrics';
import { timerMs } from '../api/time/timer-limit';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import { escalationGuard } from '../authz/escalation';
import {
  apiServiceName,
  bootstrapApiServices,
  builtInServices,
  isAvailable,
  managedBy,
} from '../bootstrap/api-services';
import { bootstrapCluster, type BootstrapDependencies, type BootstrapPart } from '../bootstrap/bootstrap';
import { labelNamespaces } from '../bootstrap/label-namespaces';
import { LiveReplicas } from '../bootstrap/live-replicas';
import { MaxInFlight, type InFlightLimits } from '../flowcontrol/max-in-flight';
import { registerInFlightMetrics } from '../flowcontrol/metrics';
import { BackendTransport } from '../client/backend-transport';
import { byClusterAddress, byEndpoint, withOurselves } from '../client/service-resolver';
import { componentStatusEndpoints } from '../http/endpoints/component-statuses';
import { fieldOwnership, noFieldOwnership } from '../resources/field-ownership';
import { discoveryRoutes } from '../http/routes/discovery-routes';
import { listenForProbes, type HealthAddress } from '../http/routes/health-listener';
import { healthRoutes } from '../http/routes/health-routes';
import { metricsRoute, versionRoute } from '../http/routes/info-routes';
import { requestLog } from '../http/filters/request-log';
import { openApiRoutes } from '../http/routes/openapi-routes';
import { createServer, type Http2Options } from '../http/server';
import { BackendConnections } from '../kubelet/backend-connections';
import type { KubeletOptions } from '../kubelet/kubelet-options';
import { MemoryBudget } from '../memory/memory-budget';
import { cacheLimit, clientMemoryLimit } from '../memory/memory-limit';
import type { Logger } from '../observability/logger';
import { LoopMonitor } from '../observability/loop-monitor';
import { registerMemoryMetrics } from '../observability/memory-metrics';
import { printMetrics } from '../observability/metrics-text';
import { registerProcessMetrics } from '../observability/process-metrics';
import { RequestMetrics } from '../observability/request-metrics';
import { ResourceRegistry } from '../registry/resource-registry';
import { storedDecoder } from '../registry/stored-decoder';
import { startRegistryCache } from '../storage/cache/registry-cache';
import { StorageMetrics } from '../storage/metrics';
import type { Store } from '../storage/store';
import { admissionPlugins, DEFAULT_ADMISSION, type AdmissionOptions } from './admission-plugins';
import { admissionWebhooks } from './admission-webhooks';
import { guardedAdmission } from '../admission/guards';
import { authEndpoints, issuerRoutes } from './auth-endpoints';
import { createAuthentication, type AuthenticationOptions } from './authentication';
import { createAuthorization, type AuthorizationOptions } from './authorization';
import type { ServingCertificates } from './certificates';
import { CustomApiServices } from './custom-api-services';
import { CustomResources } from '../resources/custom-resources';
import { withEventLifetime } from '../api/kinds/event-lifetime';
import { DEFAULT_GATES, gatedKinds, type FeatureGates } from '../api/kinds/feature-gates';
import { healthChecks } from './health-checks';
import { keepTrying } from './keep-trying';
import { explainListenFailure } from './listen-failure';
import { CloseStack } from './close-stack';
import { components } from './component-probes';
import { namespaceCreator } from '../resources/namespace-creator';
import { publishAuthentication, publishedAuthentication } from './published-authentication';
import { quotaStore } from '../resources/quota-store';
import { RegistryReader } from '../resources/registry-reader';
import { feedResources, type ResourceFeed } from '../resources/resource-feed';
import { createServiceAllocations, ServiceEffects, ServiceRangeRepairs, type ServiceRanges } from './service-ranges';
import { isServedByDefault, type IsServed } from '../resources/runtime-config';
import { ServedCatalogue } from '../resources/served-catalogue';
import { once, StartPhases, type StartPhase } from './start-phases';
import type { TlsMaterial } from './tls-material';
import { webhookBackends } from './webhook-backends';
import { webhookCredentials } from './webhook-credentials';
import { DEFAULT_RELEASE, versionInfo, type KubernetesRelease } from './version';

/** What an API server is made of, decided before anything starts. */
export interface ApiServerOptions {
  readonly store: Store;
  /** What all keys begin with: `/registry/`. */
  readonly keyRoot: string;
  readonly certificates: ServingCertificates;
  /** The same certificates as the listener has them; closed with the server. */
  readonly tls: TlsMaterial;
  /** Undefined: HTTP/1.1 only. */
  readonly http2: Http2Options | undefined;
  /** Absent: as with kube-apiserver's default flags. */
  readonly kubelets?: KubeletOptions;
  readonly bindAddress: string;
  /** 0: any free port. */
  readonly securePort: number;
  readonly advertiseAddress: string;
  readonly serviceRanges: ServiceRanges;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  /** Absent: the plugins that are on by default. */
  readonly admission?: AdmissionOptions;
  /** Absent: each as it is by default. */
  readonly featureGates?: FeatureGates;
  /** Absent: everything but alpha versions. */
  readonly isServed?: IsServed;
  /** How long Events are kept; 0: for good. Absent: an hour. */
  readonly eventTtlMs?: number;
  /** Services of webhooks are reached at one of their endpoints, not at their own address. Absent: no. */
  readonly routesToEndpoints?: boolean;
  readonly requestTimeoutMs: number;
  readonly minRequestTimeoutSeconds: number;
  /** Absent: kube-apiserver's. */
  readonly inFlightLimits?: InFlightLimits;
  /** Where probes find the health checks over plain HTTP; absent: nowhere. */
  readonly healthAddress?: HealthAddress | undefined;
  /** What `/version` tells. Absent: the newest whose stable API is served whole. */
  readonly release?: KubernetesRelease;
  readonly shutdownDelayMs: number;
  readonly livezGraceMs: number;
  readonly logger: Logger;
  /** Every request is logged. */
  readonly logRequests: boolean;
  /** Throws when what is logged cannot be written. */
  readonly checkLog: () => void;
  /** Prints the metrics of all processes of this replica, given this one's. Absent: this one's are all. */
  readonly shareMetrics?: (own: Registry) => () => Promise<string>;
}

/** A server that answers. */
export interface RunningApiServer {
  readonly port: number;
  /** Of the health checks over plain HTTP, when they were asked for. */
  readonly healthPort: number | undefined;
  /** What `/metrics` shows, for others in this process to add to. */
  readonly metrics: Registry;
  /** Resolves when the default objects are there, or the server stops before that. Rejects when the store has no space for them. */
  readonly ready: Promise<void>;
  /**
   * Ends in order: /readyz fails and answers end their connections, the shutdown delay passes, watches end, requests under way finish, memory is let go.
   * The store stays open; it belongs to whoever opened it.
   */
  stop(): Promise<void>;
}

/** The name under which the server owns the fields of what it creates itself. */
const OWN_MANAGER = 'kube-apiserver';

const BOOTSTRAP_PHASES: Readonly<Record<BootstrapPart, StartPhase>> = {
  system: 'poststarthook/bootstrap-controller',
  'priority classes': 'poststarthook/scheduling/bootstrap-system-priority-classes',
  roles: 'poststarthook/rbac/bootstrap-roles',
};

/** Where this process finds itself. */
function localAddress(bindAddress: string): string {
  return ['', '0.0.0.0', '::'].includes(bindAddress) ? '127.0.0.1' : bindAddress;
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

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
  const { store, keyRoot, logger, certificates, tls } = options;
  const schema = loadBuiltinSchema();
  const gates = options.featureGates ?? DEFAULT_GATES;
  const gated = gatedKinds(CATALOGUE, gates);
  const kinds = options.eventTtlMs === undefined ? gated : withEventLifetime(gated, options.eventTtlMs);
  const stored = kinds.filter((definition) => definition.stored);
  const decoders = new Map(stored.map((definition) => [definition.storagePrefix, storedDecoder(definition, schema)]));
  const cache = await startRegistryCache(store, { prefix: keyRoot, resources: decoders, logger });
  parts.add(() => cache.close());

  const decoderOf = (definition: KindDefinition) =>
    decoders.get(definition.storagePrefix) ?? storedDecoder(definition, schema);
  const allocations = createServiceAllocations({ store, keyRoot, schema, ranges: options.serviceRanges, logger });
  const serviceEffects = new ServiceEffects(allocations, () => catalogue.registryOf('', 'endpoints'), logger);
  const catalogue: ServedCatalogue = new ServedCatalogue(
    kinds,
    GROUPS,
    schema,
    (definition, group) =>
      new ResourceRegistry({
        definition,
        group,
        store,
        cache,
        decode: decoderOf(definition).decode,
        keyRoot,
        ...(definition.storagePrefix === service.storagePrefix ? { sideEffects: serviceEffects } : {}),
      }),
    options.isServed ?? isServedByDefault,
  );
  const resourceCache = (storagePrefix: string) => {
    const definition = stored.find((one) => one.storagePrefix === storagePrefix);
    if (definition === undefined) throw new Error(`nothing is stored under ${storagePrefix}`);
    return cache.register(storagePrefix, decoderOf(definition));
  };

  const authorization = createAuthorization(options.authorization);
  parts.add(() => authorization.close());
  const { authorize } = authorization;
  const authorizationFeed = feedResources(authorization.sinks, resourceCache, keyRoot, logger);
  parts.add(() => authorizationFeed.close());
  const ownership = gates.ServerSideApply ? fieldOwnership(catalogue, Date.now) : noFieldOwnership;
  const definitions = catalogue.storageVersionOf('apiextensions.k8s.io', 'customresourcedefinitions');
  const registry = new Registry();
  registerProcessMetrics(registry);
  const loopMonitor = new LoopMonitor(registry, logger);
  parts.add(() => loopMonitor.close());
  const metrics = new RequestMetrics(registry);
  new StorageMetrics(registry, store);
  const maxInFlight = new MaxInFlight(options.inFlightLimits);
  registerInFlightMetrics(registry, maxInFlight);
  const memory = new MemoryBudget(clientMemoryLimit(), (bytes) =>
    logger.warn({ bytes }, 'dropped the connection that held most, as the memory for clients was used up'),
  );
  registerMemoryMetrics(registry, memory);
  limitRememberedShapes(cacheLimit(MOST_SHAPE_BYTES));
  const customResources = new CustomResources({
    catalogue,
    cache,
    definitions: {
      cache: resourceCache(definitions.definition.storagePrefix),
      registry: catalogue.registryOf('apiextensions.k8s.io', 'customresourcedefinitions'),
    },
    createRegistry: (definition, decoder) => new ResourceRegistry({ definition, store, cache, keyRoot, ...decoder }),
    schema,
    trackFields: (live, updated) => ownership.trackUpdate({ served: definitions, live, updated, manager: OWN_MANAGER }),
    keyRoot,
    onRemoved: () =>
      void metrics.forgetUnserved(
        (group, version, resource) => catalogue.resolve(group, version, resource) !== undefined,
      ),
    now: Date.now,
    logger,
  });
  parts.add(() => customResources.close());
  const phases = new StartPhases();
  phases.finish('poststarthook/generic-apiserver-start-informers', () => authorizationFeed.isFollowing());
  await Promise.all([authorizationFeed.caughtUp, customResources.start()]);
  phases.finish('poststarthook/start-apiextensions-informers', () => customResources.isFollowing());
  phases.finish('poststarthook/crd-informer-synced');
  phases.finish('poststarthook/start-apiextensions-controllers', () => customResources.hasSettled());
  let isStopping = false;
  const version = versionInfo(options.release ?? DEFAULT_RELEASE);
  const reader = new RegistryReader(cache, store, keyRoot, resourceCache);
  const dynamic = { generation: () => catalogue.generation(), definitions: () => catalogue.definitions() };

  const { clientAuthority, frontAuthority } = tls;
  const authentication = createAuthentication(options.authentication, {
    reader,
    clientAuthority,
    frontAuthority,
    metrics: new AuthenticationMetrics(registry),
    logger,
  });
  parts.add(() => authentication.close());
  const { serviceAccounts } = options.authentication;
  const quotas = catalogue.storageVersionOf('', 'resourcequotas');
  const admissionOptions = options.admission ?? DEFAULT_ADMISSION;
  let ownPort = options.securePort;
  const transport = new BackendTransport();
  parts.add(() => transport.close());
  const services = {
    getService: (namespace: string, name: string) => reader.get('services/specs', namespace, name),
    getEndpoints: (namespace: string, name: string) => reader.get('services/endpoints', namespace, name),
  };
  const resolveService = withOurselves(
    options.routesToEndpoints === true ? byEndpoint(services, Math.random) : byClusterAddress(services),
    () => ({ host: localAddress(options.bindAddress), port: ownPort }),
  );
  const backendsOf = (type: WebhookType): CallBackend =>
    webhookBackends({
      transport,
      resolveService,
      credentialsFor: webhookCredentials(admissionOptions.configurations, type),
      ownAuthority: certificates.servingAuthority,
    });
  const webhooks = admissionWebhooks({
    versions: servedVersions(catalogue),
    authorize,
    getNamespace: (name) => reader.getLive('namespaces', name),
    callBackend: { admit: backendsOf('admit'), validating: backendsOf('validating') },
    registry,
    logger,
  });
  const webhookFeed = feedResources(webhooks.sinks, resourceCache, keyRoot, logger);
  parts.add(() => webhookFeed.close());
  await webhookFeed.caughtUp;
  const plugins = admissionPlugins(admissionOptions, {
    reader,
    webhooks,
    authorize,
    quotas: quotaStore({
      store,
      cache,
      keyRoot,
      reader,
      served: quotas,
      trackFields: (live, updated) => ownership.trackUpdate({ served: quotas, live, updated, manager: OWN_MANAGER }),
    }),
    findResource: (group, version, kind) =>
      catalogue
        .definitions()
        .find((one) => one.kind === kind && one.versions.some((v) => v.group === group && v.version === version)),
    policyMetrics: new PolicyMetrics(registry),
    createNamespace: namespaceCreator(catalogue.registryOf('', 'namespaces')),
    requestTimeoutMs: options.requestTimeoutMs,
  });
  phases.finish(
    'poststarthook/start-kube-apiserver-admission-initializer',
    once(
      () => reader.get('namespaces', 'kube-system') !== undefined && reader.get('namespaces', 'default') !== undefined,
    ),
  );
  const health = healthChecks({
    store,
    phases,
    livezGraceMs: options.livezGraceMs,
    isStopping: () => isStopping,
    checkLog: options.checkLog,
  });

  const probes = options.healthAddress === undefined ? undefined : await listenForProbes(options.healthAddress, health);
  if (probes !== undefined) parts.add(() => probes.close());
  const server = createServer({
    catalogue,
    fieldOwnership: ownership,
    features: {
      compression: gates.APIResponseCompression,
      listChunking: gates.APIListChunking,
      remainingItemCount: gates.RemainingItemCount,
      warnings: gates.WarningHeaders,
    },
    admission: guardedAdmission(
      admissionChain(plugins, new AdmissionMetrics(registry)),
      authorize,
      escalationGuard(authorization.rbac, authorize),
    ),
    authenticate: authentication.authenticate,
    authorize,
    specialEndpoints: new Map([
      ...componentStatusEndpoints(components(store)),
      ...authEndpoints(authentication, authorization, serviceAccounts),
    ]),
    requestTimeoutMs: options.requestTimeoutMs,
    minRequestTimeoutSeconds: options.minRequestTimeoutSeconds,
    maxInFlight,
    logRequest: options.logRequests ? requestLog(logger) : undefined,
    nonResourceRoutes: [
      versionRoute(version),
      metricsRoute(options.shareMetrics?.(registry) ?? (() => printMetrics(registry))),
      ...healthRoutes(health, logger),
      ...discoveryRoutes({
        ...dynamic,
        groups: () => catalogue.groups(),
        hasBuiltInGroup: (name) => catalogue.hasBuiltInGroup(name),
        features: { storageVersionHashes: gates.StorageVersionHash },
        serverAddress: `${options.advertiseAddress}:${options.securePort}`,
        metaType: (kind) => schema.kind('', 'v1', kind),
        aggregatedType: (version) => schema.kind('apidiscovery.k8s.io', version, 'APIGroupDiscoveryList'),
      }),
      ...issuerRoutes(serviceAccounts, `${options.advertiseAddress}:${options.securePort}`),
      ...openApiRoutes({
        ...dynamic,
        schema,
        custom: () => catalogue.customSchemas(),
        info: { title: 'Kubernetes', version: version.gitVersion ?? '' },
        groupVersions: () => catalogue.groupVersions(),
      }),
    ],
    tls: tls.tls,
    http2: options.http2,
    backends: new BackendConnections(options.kubelets),
    host: options.bindAddress,
    port: options.securePort,
    logger,
    metrics,
    memory,
  });
  parts.add(() => tls.close());
  parts.add(() => server.close());
  const { port } = await server.listen().catch((error: unknown) => {
    throw explainListenFailure(error, options.bindAddress, options.securePort);
  });
  ownPort = port;
  tls.onChanged((changed) => server.setSecureContext(changed));

  const stopping = new AbortController();
  // Many writes wait for it at once.
  setMaxListeners(0, stopping.signal);
  const repairs = new ServiceRangeRepairs(allocations, catalogue.registryOf('', 'services'), logger, stopping.signal);
  await repairs.run();
  const objects: BootstrapDependencies = {
    registryOf: (group, resource) => catalogue.registryOf(group, resource),
    trackFields: (group, resource, live, object) => {
      const served = catalogue.storageVersionOf(group, resource);
      return ownership.trackUpdate({ served, live, updated: object, manager: OWN_MANAGER });
    },
  };
  const apiServices = catalogue.storageVersionOf('apiregistration.k8s.io', 'apiservices').definition.storagePrefix;
  const apiServiceRegistry = catalogue.registryOf('apiregistration.k8s.io', 'apiservices');
  const customApiServices = new CustomApiServices(
    {
      registry: apiServiceRegistry,
      isBuiltIn: (group, version) =>
        GROUPS.some(({ name, versions }) => name === group && versions.some((one) => one.version === version)),
      logger,
    },
    { definitions: definitions.definition.storagePrefix, services: apiServices },
  );
  const builtInApiServices = builtInServices(catalogue.builtInGroups).map(apiServiceName);
  const apiServicesInMemory = () => builtInApiServices.map((name) => reader.get(apiServices, name));
  let apiServiceFeed: ResourceFeed | undefined;
  let liveReplicas: LiveReplicas | undefined;
  const registeredApiServices = (): void => {
    phases.finish('poststarthook/kube-apiserver-autoregistration');
    phases.finish(
      'poststarthook/apiservice-registration-controller',
      once(() => apiServicesInMemory().every((object) => object !== undefined)),
    );
    phases.finish(
      'poststarthook/apiservice-status-available-controller',
      once(() =>
        apiServicesInMemory().every(
          (object) => object !== undefined && (managedBy(object) === undefined || isAvailable(object)),
        ),
      ),
    );
  };
  const followApiServices = (): void => {
    const feed = (apiServiceFeed ??= feedResources(customApiServices.sinks, resourceCache, keyRoot, logger));
    void feed.caughtUp.then(() => customApiServices.started());
    phases.finish('poststarthook/start-kube-aggregator-informers', () => feed.isFollowing());
    const hasRegistered = once(() => customApiServices.hasRegistered());
    phases.finish('autoregister-completion', hasRegistered);
    phases.finish('poststarthook/apiservice-openapi-controller', () => hasRegistered() && customResources.hasSettled());
  };
  const bootstrap = async (): Promise<void> => {
    const addresses = { securePort: port, serviceRange: options.serviceRanges.addressRanges[0] };
    await Promise.all([
      bootstrapCluster(objects, addresses, stopping.signal, (part) => phases.finish(BOOTSTRAP_PHASES[part])),
      bootstrapApiServices(apiServiceRegistry, catalogue.builtInGroups, stopping.signal).then(registeredApiServices),
    ]);
    if (gates.NamespaceDefaultLabelName) {
      await labelNamespaces(catalogue.registryOf('', 'namespaces'), stopping.signal);
    }
    const published = publishedAuthentication(options.authentication, certificates);
    const configMaps = catalogue.registryOf('', 'configmaps');
    if (published !== undefined) await publishAuthentication(configMaps, published, stopping.signal);
    phases.finish('poststarthook/start-cluster-authentication-info-controller');
    followApiServices();
    // Endpoints may not name a loopback address (validation refuses it), so a server on loopback only has none.
    if (isLoopback(options.advertiseAddress)) return;
    liveReplicas = new LiveReplicas({ ...objects, store, keyRoot, address: options.advertiseAddress, port, logger });
  };
  const bootstrapped = keepTrying(
    bootstrap,
    (error) => logger.warn({ err: error }, 'creating the default objects failed'),
    stopping.signal,
  ).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  const settled = bootstrapped.catch(() => undefined);

  return {
    port,
    healthPort: probes?.port,
    metrics: registry,
    ready: bootstrapped,
    stop: async () => {
      isStopping = true;
      server.drain();
      stopping.abort();
      await settled;
      await liveReplicas?.close();
      await apiServiceFeed?.close();
      await customApiServices.close();
      await new Promise((resolve) => setTimeout(resolve, timerMs(options.shutdownDelayMs)));
      await repairs.close();
      await parts.close();
    },
  };
}
