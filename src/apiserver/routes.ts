import type { FeatureGates } from '../api/kinds/feature-gates';
import { discoveryRoutes } from '../http/routes/discovery-routes';
import { flowControlRoutes } from '../http/routes/flow-control-routes';
import { healthRoutes, type HealthChecks } from '../http/routes/health-routes';
import { metricsRoute, versionRoute } from '../http/routes/info-routes';
import { openApiRoutes } from '../http/routes/openapi-routes';
import type { NonResourceRoute } from '../http/routes/route';
import { printMetrics } from '../observability/metrics-text';
import type { Access } from './access';
import { issuerRoutes } from './auth-endpoints';
import type { Instruments } from './instruments';
import type { ApiServerOptions } from './options';
import type { Storage } from './storage';
import { DEFAULT_RELEASE, versionInfo } from './version';

/** Everything that is served outside the resource tree. */
export function nonResourceRoutes(
  options: ApiServerOptions,
  gates: FeatureGates,
  { catalogue, schema }: Storage,
  { serviceAccountKeys }: Access,
  { registry, fairness }: Instruments,
  health: HealthChecks,
): readonly NonResourceRoute[] {
  const { advertiseAddress, securePort, authentication, logger, shareMetrics } = options;
  const version = versionInfo(options.release ?? DEFAULT_RELEASE);
  const dynamic = { generation: () => catalogue.generation(), definitions: () => catalogue.definitions() };
  const serverAddress = `${advertiseAddress}:${securePort}`;
  return [
    versionRoute(version),
    metricsRoute(shareMetrics?.(registry) ?? (() => printMetrics(registry))),
    ...healthRoutes(health, logger),
    ...(fairness === undefined ? [] : flowControlRoutes(fairness)),
    ...discoveryRoutes({
      ...dynamic,
      groups: () => catalogue.groups(),
      hasBuiltInGroup: (name) => catalogue.hasBuiltInGroup(name),
      features: { storageVersionHashes: gates.StorageVersionHash },
      serverAddress,
      metaType: (kind) => schema.kind('', 'v1', kind),
      aggregatedType: (documentVersion) => schema.kind('apidiscovery.k8s.io', documentVersion, 'APIGroupDiscoveryList'),
    }),
    ...issuerRoutes(authentication.serviceAccounts, serviceAccountKeys, serverAddress),
    ...openApiRoutes({
      ...dynamic,
      schema,
      custom: () => catalogue.customSchemas(),
      info: { title: 'Kubernetes', version: version.gitVersion ?? '' },
      groupVersions: () => catalogue.groupVersions(),
    }),
  ];
}
