import { setMaxListeners } from 'node:events';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { CATALOGUE } from '../api/kinds/catalogue';
import { service } from '../api/kinds/core/service';
import { GROUPS } from '../api/kinds/groups';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { AdmissionMetrics } from '../admission/metrics';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import { escalationGuard } from '../authz/escalation';
import { bootstrapCluster, type BootstrapDependencies } from '../bootstrap/bootstrap';
import { LiveReplicas } from '../bootstrap/live-replicas';
import { componentStatusEndpoints } from '../http/endpoints/component-statuses';
import { fieldOwnership } from '../http/field-ownership';
import { discoveryRoutes } from '../http/routes/discovery-routes';
import { healthRoutes } from '../http/routes/health-routes';
import { metricsRoute, versionRoute } from '../http/routes/info-routes';
import { openApiRoutes } from '../http/routes/openapi-routes';
import { createServer } from '../http/server';
import type { Logger } from '../observability/logger';
import { RequestMetrics } from '../observability/request-metrics';
import { ResourceRegistry } from '../registry/resource-registry';
import { storedDecoder } from '../registry/stored-decoder';
import { startRegistryCache } from '../storage/cache/registry-cache';
import type { Store } from '../storage/store';
import { admission, admissionPlugins, DEFAULT_ADMISSION, type AdmissionOptions } from './admission-plugins';
import { guardedAdmission } from './admission-guards';
import { authEndpoints, issuerRoutes } from './auth-endpoints';
import { createAuthentication, type AuthenticationOptions } from './authentication';
import { createAuthorization, type AuthorizationOptions } from './authorization';
import type { ServingCertificates } from './certificates';
import { CustomResources } from './custom-resources';
import { healthChecks, Lifecycle } from './health-checks';
import { keepTrying } from './keep-trying';
import { components } from './component-probes';
import { namespaceCreator } from './namespace-creator';
import { publishAuthentication, publishedAuthentication } from './published-authentication';
import { quotaStore } from './quota-store';
import { RegistryReader } from './registry-reader';
import { feedResources } from './resource-feed';
import { createServiceAllocations, ServiceEffects, ServiceRangeRepairs } from './service-ranges';
import { ServedCatalogue } from './served-catalogue';
import type { TlsMaterial } from './tls-material';
import { versionInfo } from './version';

/** What an API server is made of, decided before anything starts. */
export interface ApiServerOptions {
  readonly store: Store;
  /** What all keys begin with: `/registry/`. */
  readonly keyRoot: string;
  readonly certificates: ServingCertificates;
  /** The same certificates as the listener has them; closed with the server. */
  readonly tls: TlsMaterial;
  readonly bindAddress: string;
  /** 0: any free port. */
  readonly securePort: number;
  readonly advertiseAddress: string;
  readonly serviceRange: string;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  /** Absent: the plugins that are on by default. */
  readonly admission?: AdmissionOptions;
  readonly requestTimeoutMs: number;
  readonly minRequestTimeoutSeconds: number;
  readonly shutdownDelayMs: number;
  readonly livezGraceMs: number;
  readonly logger: Logger;
}

/** A server that answers. */
export interface RunningApiServer {
  readonly port: number;
  /** Resolves when the default objects are there (or the server stops before that). */
  readonly ready: Promise<void>;
  /**
   * Ends in order: /readyz fails and answers end their connections, the shutdown delay passes, watches end, requests under way finish, memory is let go.
   * The store stays open; it belongs to whoever opened it.
   */
  stop(): Promise<void>;
}

/** The name under which the server owns the fields of what it creates itself. */
const OWN_MANAGER = 'kube-apiserver';

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

/**
 * Builds every part once, lowest floor first, and listens. Resolves as soon as requests are answered; what a fresh
 * cluster has is created right after, and /readyz says when that is done.
 */
export async function startServer(options: ApiServerOptions): Promise<RunningApiServer> {
  const { store, keyRoot, logger, certificates, tls } = options;
  const schema = loadBuiltinSchema();
  const stored = CATALOGUE.filter((definition) => definition.stored);
  const decoders = new Map(stored.map((definition) => [definition.storagePrefix, storedDecoder(definition, schema)]));
  const cache = await startRegistryCache(store, { prefix: keyRoot, resources: decoders, logger });

  const decoderOf = (definition: KindDefinition) =>
    decoders.get(definition.storagePrefix) ?? storedDecoder(definition, schema);
  const allocations = createServiceAllocations({ store, keyRoot, schema, addressRange: options.serviceRange, logger });
  const serviceEffects = new ServiceEffects(allocations, () => catalogue.registryOf('', 'endpoints'), logger);
  const catalogue: ServedCatalogue = new ServedCatalogue(
    CATALOGUE,
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
        ...(definition === service ? { sideEffects: serviceEffects } : {}),
      }),
  );
  const resourceCache = (storagePrefix: string) => {
    const definition = stored.find((one) => one.storagePrefix === storagePrefix);
    if (definition === undefined) throw new Error(`nothing is stored under ${storagePrefix}`);
    return cache.register(storagePrefix, decoderOf(definition));
  };

  const authorization = createAuthorization(options.authorization);
  const { authorize } = authorization;
  const authorizationFeed = feedResources(authorization.sinks, resourceCache, keyRoot, logger);
  const ownership = fieldOwnership(catalogue, Date.now);
  const definitions = catalogue.storageVersionOf('apiextensions.k8s.io', 'customresourcedefinitions');
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
    now: Date.now,
    logger,
  });
  customResources.start();
  const lifecycle = new Lifecycle();
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = new RequestMetrics(registry);
  const version = versionInfo();
  const reader = new RegistryReader(cache, store, keyRoot, resourceCache);
  const dynamic = { generation: () => catalogue.generation(), definitions: () => catalogue.definitions() };

  const { clientAuthority, frontAuthority } = tls;
  const authentication = createAuthentication(options.authentication, {
    reader,
    clientAuthority,
    frontAuthority,
    logger,
  });
  const { serviceAccounts } = options.authentication;
  const quotas = catalogue.storageVersionOf('', 'resourcequotas');
  const plugins = admissionPlugins(options.admission ?? DEFAULT_ADMISSION, {
    reader,
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
    createNamespace: namespaceCreator(catalogue.registryOf('', 'namespaces')),
    requestTimeoutMs: options.requestTimeoutMs,
  });

  const server = createServer({
    catalogue,
    admission: guardedAdmission(
      admission(plugins, new AdmissionMetrics(registry)),
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
    nonResourceRoutes: [
      versionRoute(version),
      metricsRoute(() => registry.metrics()),
      ...healthRoutes(healthChecks(store, lifecycle, options.livezGraceMs), logger),
      ...discoveryRoutes({
        ...dynamic,
        groups: () => catalogue.groups(),
        hasBuiltInGroup: (name) => catalogue.hasBuiltInGroup(name),
        serverAddress: `${options.advertiseAddress}:${options.securePort}`,
        metaType: (kind) => schema.kind('', 'v1', kind),
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
    host: options.bindAddress,
    port: options.securePort,
    logger,
    metrics,
  });
  const { port } = await server.listen();
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
  let liveReplicas: LiveReplicas | undefined;
  const bootstrap = async (): Promise<void> => {
    const addresses = { securePort: port, serviceRange: options.serviceRange };
    await bootstrapCluster(objects, addresses, stopping.signal);
    const published = publishedAuthentication(options.authentication, certificates);
    const configMaps = catalogue.registryOf('', 'configmaps');
    if (published !== undefined) await publishAuthentication(configMaps, published, stopping.signal);
    lifecycle.started();
    // Endpoints may not name a loopback address (validation refuses it), so a server on loopback only has none.
    if (isLoopback(options.advertiseAddress)) return;
    liveReplicas = new LiveReplicas({ ...objects, store, keyRoot, address: options.advertiseAddress, port, logger });
  };
  const bootstrapped = keepTrying(
    bootstrap,
    (error) => logger.warn({ err: error }, 'creating the default objects failed'),
    stopping.signal,
  ).catch(() => undefined);

  return {
    port,
    ready: bootstrapped,
    stop: async () => {
      lifecycle.stopping();
      server.drain();
      stopping.abort();
      await bootstrapped;
      await liveReplicas?.close();
      await new Promise((resolve) => setTimeout(resolve, options.shutdownDelayMs));
      await repairs.close();
      await server.close();
      await customResources.close();
      tls.close();
      authentication.close();
      authorization.close();
      await authorizationFeed.close();
      await cache.close();
    },
  };
}
