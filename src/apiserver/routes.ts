import { DEFAULT_RELEASE } from '../api/kubernetes-release';
import type { RemoteApis } from '../aggregator/remote-apis';
import type { FeatureGates } from '../api/kinds/feature-gates';
import { debugRoutes } from '../http/routes/debug-routes';
import { discoveryRoutes } from '../http/routes/discovery-routes';
import { runAllChecks } from '../http/routes/health-metrics';
import { flowControlRoutes } from '../http/routes/flow-control-routes';
import { healthRoutes, type HealthChecks } from '../http/routes/health-routes';
import { metricsRoute, versionRoute } from '../http/routes/info-routes';
import { openApiRoutes } from '../http/routes/openapi-routes';
import type { NonResourceRoute } from '../http/routes/route';
import { processProfiler } from '../observability/profiler';
import type { Verbosity } from '../observability/verbosity';
import { printMetrics } from '../observability/metrics-text';
import type { Access } from './access';
import { issuerRoutes } from './auth-endpoints';
import type { Instruments } from './instruments';
import type { ApiServerOptions } from './options';
import type { Storage } from './storage';
import { versionInfo } from './version';

/** Everything that is served outside the resource tree. */
export function nonResourceRoutes(
  options: ApiServerOptions,
  gates: FeatureGates,
  { catalogue, schema }: Storage,
  { serviceAccountKeys }: Access,
  { registry, healthMetrics, fairness }: Instruments,
  health: HealthChecks,
  verbosity: Verbosity,
  remote: RemoteApis,
): readonly NonResourceRoute[] {
  const { advertiseAddress, securePort, authentication, logger, shareMetrics } = options;
  const version = versionInfo(options.release ?? DEFAULT_RELEASE);
  const dynamic = {
    generation: () => catalogue.generation() + remote.generation(),
    definitions: () => catalogue.definitions(),
  };
  const serverAddress = `${advertiseAddress}:${securePort}`;
  return [
    versionRoute(version),
    metricsRoute(shareMetrics?.(registry) ?? (() => printMetrics(registry))),
    metricsRoute(async () => {
      await runAllChecks(health);
      return printMetrics(healthMetrics.registry);
    }, '/metrics/slis'),
    ...healthRoutes(health, logger),
    ...(options.profiling === true
      ? debugRoutes({ profiler: processProfiler, setVerbosity: (v) => verbosity.set(v) })
      : []),
    ...(fairness === undefined ? [] : flowControlRoutes(fairness)),
    ...discoveryRoutes({
      ...dynamic,
      groups: () => remote.groupsAmong(catalogue.groups()),
      remote: () => remote.resources(),
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
      remote: () => remote.documents(),
      remoteParts: () => remote.parts(),
    }),
  ];
}
