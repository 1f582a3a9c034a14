import { readFileSync } from 'node:fs';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { CATALOGUE } from '../api/kinds/catalogue';
import { GROUPS } from '../api/kinds/groups';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import { authenticateClientCertificate } from '../authn/client-certificate';
import type { Authenticator } from '../authn/credentials';
import { authenticateTokenFile, parseTokenFile } from '../authn/token-file';
import { authenticateUnion } from '../authn/union';
import type { Authorizer } from '../authz/attributes';
import { alwaysAllow, alwaysDeny, authorizeInOrder } from '../authz/modes';
import { RbacAuthorizer } from '../authz/rbac';
import { bootstrapCluster } from '../bootstrap/bootstrap';
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
import { admission, admissionPlugins } from './admission-plugins';
import type { ServingCertificates } from './certificates';
import { healthChecks, Lifecycle } from './health-checks';
import { feedRbac } from './rbac-feed';
import { RegistryReader } from './registry-reader';
import { ServedCatalogue } from './served-catalogue';
import { versionInfo } from './version';

/** What an API server is made of, decided before anything starts. */
export interface ApiServerOptions {
  readonly store: Store;
  /** What all keys begin with: `/registry/`. */
  readonly keyRoot: string;
  readonly certificates: ServingCertificates;
  readonly bindAddress: string;
  /** 0: any free port. */
  readonly securePort: number;
  readonly advertiseAddress: string;
  readonly serviceRange: string;
  readonly tokenAuthFile: string;
  readonly anonymousAuth: boolean;
  readonly authorizationModes: readonly string[];
  readonly requestTimeoutMs: number;
  readonly minRequestTimeoutSeconds: number;
  readonly shutdownDelayMs: number;
  readonly livezGraceMs: number;
  readonly logger: Logger;
}

/** A server that answers. */
export interface RunningApiServer {
  readonly port: number;
  /**
   * Ends in order: /readyz fails, the shutdown delay passes, watches end, requests under way finish, memory is let go.
   * The store stays open; it belongs to whoever opened it.
   */
  stop(): Promise<void>;
}

/** The name under which the server owns the fields of what it creates itself. */
const OWN_MANAGER = 'kube-apiserver';

function authenticators({ tokenAuthFile }: ApiServerOptions): readonly Authenticator[] {
  return [
    authenticateClientCertificate,
    ...(tokenAuthFile === '' ? [] : [authenticateTokenFile(parseTokenFile(readFileSync(tokenAuthFile, 'utf8')))]),
  ];
}

function authorizers(modes: readonly string[], rbac: RbacAuthorizer): readonly Authorizer[] {
  return modes.flatMap((mode): readonly Authorizer[] => {
    switch (mode) {
      case 'AlwaysAllow':
        return [alwaysAllow];
      case 'AlwaysDeny':
        return [alwaysDeny];
      case 'RBAC':
        return [rbac.authorize];
      case 'Node':
        return [];
      default:
        throw new Error(`authorization mode ${JSON.stringify(mode)} is not supported`);
    }
  });
}

/**
 * Builds every part once, lowest floor first, and listens. Resolves as soon as requests are answered; what a fresh
 * cluster has is created right after, and /readyz says when that is done.
 */
export async function startServer(options: ApiServerOptions): Promise<RunningApiServer> {
  const { store, keyRoot, logger, certificates } = options;
  const schema = loadBuiltinSchema();
  const stored = CATALOGUE.filter((definition) => definition.stored);
  const decoders = new Map(stored.map((definition) => [definition.storagePrefix, storedDecoder(definition, schema)]));
  const cache = await startRegistryCache(store, { prefix: keyRoot, resources: decoders, logger });

  const decoderOf = (definition: KindDefinition) =>
    decoders.get(definition.storagePrefix) ?? storedDecoder(definition, schema);
  const catalogue = new ServedCatalogue(
    CATALOGUE,
    GROUPS,
    schema,
    (definition) =>
      new ResourceRegistry({ definition, store, cache, decode: decoderOf(definition).decode, keyRoot }),
  );
  const resourceCache = (storagePrefix: string) => {
    const definition = stored.find((one) => one.storagePrefix === storagePrefix);
    if (definition === undefined) throw new Error(`nothing is stored under ${storagePrefix}`);
    return cache.register(storagePrefix, decoderOf(definition));
  };

  const rbac = new RbacAuthorizer();
  const rbacFeed = feedRbac(rbac, resourceCache, keyRoot, logger);
  const ownership = fieldOwnership(catalogue, Date.now);
  const lifecycle = new Lifecycle();
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = new RequestMetrics(registry);
  const version = versionInfo();
  const reader = new RegistryReader(cache, store, keyRoot, resourceCache);
  const fixed = { generation: () => 0, definitions: () => catalogue.definitions() };

  const server = createServer({
    catalogue,
    admission: admission(admissionPlugins(reader)),
    authenticate: authenticateUnion(authenticators(options), { allowAnonymous: options.anonymousAuth }),
    authorize: authorizeInOrder(authorizers(options.authorizationModes, rbac)),
    requestTimeoutMs: options.requestTimeoutMs,
    minRequestTimeoutSeconds: options.minRequestTimeoutSeconds,
    nonResourceRoutes: [
      versionRoute(version),
      metricsRoute(() => registry.metrics()),
      ...healthRoutes(healthChecks(store, lifecycle, options.livezGraceMs), logger),
      ...discoveryRoutes({
        ...fixed,
        groups: () => catalogue.groups(),
        serverAddress: `${options.advertiseAddress}:${options.securePort}`,
        metaType: (kind) => schema.kind('', 'v1', kind),
      }),
      ...openApiRoutes({
        ...fixed,
        schema,
        info: { title: 'Kubernetes', version: version.gitVersion ?? '' },
        groupVersions: () => catalogue.groupVersions(),
      }),
    ],
    tls: {
      cert: certificates.serving.certificatePem,
      key: certificates.serving.privateKeyPem,
      ca: certificates.clientAuthority,
    },
    host: options.bindAddress,
    port: options.securePort,
    logger,
    metrics,
  });
  const { port } = await server.listen();

  const stopping = new AbortController();
  const bootstrapped = bootstrapCluster(
    {
      registryOf: (group, resource) => catalogue.registryOf(group, resource),
      trackFields: (group, resource, live, object) => {
        const served = catalogue.storageVersionOf(group, resource);
        return ownership.trackUpdate({ served, live, updated: object, manager: OWN_MANAGER });
      },
    },
    { advertiseAddress: options.advertiseAddress, securePort: port, serviceRange: options.serviceRange },
    stopping.signal,
  ).then(
    () => lifecycle.started(),
    (error: unknown) => {
      if (!stopping.signal.aborted) logger.error({ err: error }, 'creating the default objects failed');
    },
  );

  return {
    port,
    stop: async () => {
      lifecycle.stopping();
      await new Promise((resolve) => setTimeout(resolve, options.shutdownDelayMs));
      stopping.abort();
      await bootstrapped;
      await server.close();
      await rbacFeed.close();
      await cache.close();
    },
  };
}
