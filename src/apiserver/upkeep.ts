import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_RELEASE } from '../api/kubernetes-release';
import { timerMs } from '../api/time/timer-limit';
import type { FeatureGates } from '../api/kinds/feature-gates';
import { bootstrapCluster, type BootstrapPart } from '../bootstrap/bootstrap';
import { labelNamespaces } from '../bootstrap/label-namespaces';
import { LiveReplicas } from '../bootstrap/live-replicas';
import type { CustomResources } from '../resources/custom-resources';
import { ApiServices } from './api-services';
import type { Instruments } from './instruments';
import type { FlowControl } from './flow-control';
import { keepTrying } from './keep-trying';
import type { ApiServerOptions } from './options';
import { publishTokenTracking } from './legacy-token-tracking';
import { publishAuthentication, publishedAuthentication } from './published-authentication';
import type { PolicyStatus } from './policy-status';
import { ServiceRangeRepairs } from './service-ranges';
import type { StartPhase, StartPhases } from './start-phases';
import type { Storage } from './storage';

const BOOTSTRAP_PHASES: Readonly<Record<BootstrapPart, StartPhase>> = {
  system: 'poststarthook/bootstrap-controller',
  'priority classes': 'poststarthook/scheduling/bootstrap-system-priority-classes',
  'flow control': 'poststarthook/priority-and-fairness-config-producer',
  roles: 'poststarthook/rbac/bootstrap-roles',
};

/** What the server sees to by itself while it answers requests. */
export interface Upkeep {
  /** Resolves when the default objects are there, or the server stops before that. Rejects when the store has no space for them. */
  readonly ready: Promise<void>;
  /** Others are told that this server goes, and have the time of the shutdown delay to go elsewhere. */
  stop(): Promise<void>;
}

export interface UpkeepOptions {
  readonly options: ApiServerOptions;
  readonly gates: FeatureGates;
  readonly storage: Storage;
  readonly instruments: Pick<Instruments, 'queues'>;
  readonly customResources: CustomResources;
  readonly flowControl: FlowControl;
  readonly policyStatus: PolicyStatus;
  readonly phases: StartPhases;
  /** Where this server listens. */
  readonly port: number;
}

/** Resolves when services can be given addresses; goes on to make what a fresh cluster has, and to keep it. */
export async function startUpkeep(upkeep: UpkeepOptions): Promise<Upkeep> {
  const { options, storage, customResources, phases } = upkeep;
  const { logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  // Many writes wait for it at once.
  setMaxListeners(0, signal);
  const repairs = new ServiceRangeRepairs(
    storage.allocations,
    storage.catalogue.registryOf('', 'services'),
    logger,
    signal,
  );
  await repairs.run();
  const apiServices = new ApiServices(storage, customResources, phases, upkeep.instruments.queues, logger);
  let liveReplicas: LiveReplicas | undefined;
  const bootstrapped = keepTrying(
    async () => {
      await bootstrap(upkeep, apiServices, signal);
      upkeep.flowControl.keepObjects();
      upkeep.policyStatus.begin();
      liveReplicas = joinReplicas(upkeep);
    },
    (error) => logger.warn({ err: error }, 'creating the default objects failed'),
    signal,
  ).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  const settled = bootstrapped.catch(() => undefined);
  return {
    ready: bootstrapped,
    stop: async () => {
      stopping.abort();
      await settled;
      await liveReplicas?.close();
      await delay(timerMs(options.shutdownDelayMs));
      // Not before: until then the server is alive, which health checks ask of it.
      await apiServices.close();
      await repairs.close();
    },
  };
}

/** Makes what a fresh cluster has, and brings up to date what an existing one has. May be repeated. */
async function bootstrap(
  { options, gates, storage, phases, port }: UpkeepOptions,
  apiServices: ApiServices,
  signal: AbortSignal,
): Promise<void> {
  const { catalogue, own } = storage;
  const addresses = { securePort: port, serviceRange: options.serviceRanges.addressRanges[0] };
  await Promise.all([
    bootstrapCluster(own, addresses, options.release ?? DEFAULT_RELEASE, signal, (part) =>
      phases.finish(BOOTSTRAP_PHASES[part]),
    ),
    apiServices.bootstrap(signal),
  ]);
  if (gates.NamespaceDefaultLabelName) await labelNamespaces(catalogue.registryOf('', 'namespaces'), signal);
  const published = publishedAuthentication(options.authentication, options.certificates);
  if (published !== undefined) await publishAuthentication(catalogue.registryOf('', 'configmaps'), published, signal);
  await publishTokenTracking(catalogue.registryOf('', 'configmaps'), Date.now(), signal);
  phases.finish('poststarthook/start-cluster-authentication-info-controller');
  apiServices.follow();
}

/** Endpoints may not name a loopback address (validation refuses it), so a server on loopback only is in no list. */
function joinReplicas({ options, storage, port }: UpkeepOptions): LiveReplicas | undefined {
  const { advertiseAddress: address, logger } = options;
  if (address.startsWith('127.') || address === '::1') return undefined;
  return new LiveReplicas({ ...storage, address, port, logger });
}
