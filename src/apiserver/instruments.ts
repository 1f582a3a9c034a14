import { Registry } from 'prom-client';
import { DEFAULT_RELEASE, type KubernetesRelease } from '../api/kubernetes-release';
import { limitRememberedShapes, MOST_SHAPE_BYTES } from '../api/apply/shape';
import { DEFAULT_GATES, gateStage, type FeatureGates } from '../api/kinds/feature-gates';
import type { Auditor } from '../audit/auditor';
import { AuditMetrics } from '../audit/metrics';
import { RestClientMetrics } from '../client/rest-client-metrics';
import { registerFairnessMetrics } from '../flowcontrol/fairness-metrics';
import { LongRunningRequests } from '../flowcontrol/long-running-requests';
import { DEFAULT_IN_FLIGHT_LIMITS, MaxInFlight, type InFlightLimits } from '../flowcontrol/max-in-flight';
import { registerInFlightMetrics } from '../flowcontrol/metrics';
import { PriorityAndFairness } from '../flowcontrol/priority-and-fairness';
import { HealthMetrics } from '../http/routes/health-metrics';
import { MemoryBudget } from '../memory/memory-budget';
import { cacheLimit, clientMemoryLimit, longRunningLimit } from '../memory/memory-limit';
import { registerBuildInfo, registerFeatures } from '../observability/build-metrics';
import { CertificateMetrics } from '../observability/certificate-metrics';
import type { Logger } from '../observability/logger';
import { LoopMonitor } from '../observability/loop-monitor';
import { registerMemoryMetrics } from '../observability/memory-metrics';
import { registerProcessMetrics } from '../observability/process-metrics';
import { WorkQueueMetrics } from '../observability/queue-metrics';
import { RequestMetrics } from '../observability/request-metrics';
import type { Encryption } from '../storage/encryption/encryption';
import { transformationMetrics } from '../storage/encryption/metrics';
import { startTracing, type Tracing, type TracingOptions } from '../observability/tracing';
import { StorageMetrics } from '../storage/metrics';
import type { Store } from '../storage/store';
import { createAuditor, type AuditOptions } from './audit';
import type { CloseStack } from './close-stack';
import type { TlsMaterial } from './tls-material';
import { versionInfo } from './version';

export interface InstrumentOptions {
  readonly store: Store;
  /** Undefined: nothing is recorded. */
  readonly audit?: AuditOptions | undefined;
  /** Absent: kube-apiserver's. */
  readonly inFlightLimits?: InFlightLimits;
  /** Absent: values are stored as they are. */
  readonly encryption?: Encryption | undefined;
  /** Absent: each as it is by default. */
  readonly featureGates?: FeatureGates;
  /** What `/version` tells. Absent: the newest whose stable API is served whole. */
  readonly release?: KubernetesRelease;
  readonly tls: Pick<TlsMaterial, 'inUse'>;
  /** Where traces go, and of which requests. Absent: nothing is traced. */
  readonly tracing?: Omit<TracingOptions, 'version'> | undefined;
  /** False: requests are only counted against the limits. */
  readonly priorityAndFairness?: boolean;
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
}

/** What measures, records and bounds requests, whatever they ask for. */
export interface Instruments {
  readonly registry: Registry;
  readonly metrics: RequestMetrics;
  readonly queues: WorkQueueMetrics;
  readonly restClient: RestClientMetrics;
  readonly certificates: CertificateMetrics;
  readonly healthMetrics: HealthMetrics;
  readonly tracing: Tracing | undefined;
  readonly auditor: Auditor | undefined;
  /** Without priority and fairness. */
  readonly maxInFlight: MaxInFlight | undefined;
  readonly fairness: PriorityAndFairness | undefined;
  readonly memory: MemoryBudget;
  readonly longRunning: LongRunningRequests;
}

export function startInstruments(options: InstrumentOptions, parts: CloseStack): Instruments {
  const tracing = startTracingIfWanted(options, parts);
  const { store, audit, logger } = options;
  const registry = new Registry();
  registerProcessMetrics(registry);
  registerBuild(registry, options);
  const loopMonitor = new LoopMonitor(registry, logger);
  parts.add(() => loopMonitor.close());
  new StorageMetrics(registry, store);
  options.encryption?.measure(transformationMetrics(registry));
  const auditMetrics = new AuditMetrics(registry);
  const auditor = audit === undefined ? undefined : createAuditor(audit, auditMetrics, logger);
  if (auditor !== undefined) parts.add(() => auditor.close());
  const limits = startLimits(options, registry, parts);
  const memory = new MemoryBudget(clientMemoryLimit(), (bytes) =>
    logger.warn({ bytes }, 'dropped the connection that held most, as the memory for clients was used up'),
  );
  const longRunning = new LongRunningRequests(longRunningLimit());
  registerMemoryMetrics(registry, memory, longRunning);
  limitRememberedShapes(cacheLimit(MOST_SHAPE_BYTES));
  const certificates = new CertificateMetrics(registry);
  certificates.observe(() => options.tls.inUse());
  return {
    registry,
    metrics: new RequestMetrics(registry),
    queues: new WorkQueueMetrics(registry),
    restClient: new RestClientMetrics(registry),
    certificates,
    healthMetrics: new HealthMetrics(new Registry()),
    tracing,
    auditor,
    ...limits,
    memory,
    longRunning,
  };
}

function startTracingIfWanted(
  { tracing: wanted, release = DEFAULT_RELEASE, logger }: InstrumentOptions,
  parts: CloseStack,
): Tracing | undefined {
  if (wanted === undefined) return undefined;
  const tracing = startTracing({ ...wanted, version: versionInfo(release)['gitVersion'] ?? '' }, logger);
  parts.add(() => tracing.close());
  return tracing;
}

function registerBuild(registry: Registry, options: Pick<InstrumentOptions, 'featureGates' | 'release'>): void {
  const { featureGates = DEFAULT_GATES, release = DEFAULT_RELEASE } = options;
  registerBuildInfo(registry, versionInfo(release));
  const features = Object.entries(featureGates).map(([name, isOn]) => ({ name, stage: gateStage(name), isOn }));
  registerFeatures(registry, features);
}

/** A request waits for as much of its time at most, as on kube-apiserver. */
const WAIT_SHARE = 4;

function startLimits(
  {
    inFlightLimits: limits = DEFAULT_IN_FLIGHT_LIMITS,
    priorityAndFairness = true,
    requestTimeoutMs,
  }: InstrumentOptions,
  registry: Registry,
  parts: CloseStack,
): Pick<Instruments, 'maxInFlight' | 'fairness'> {
  if (!priorityAndFairness) {
    const maxInFlight = new MaxInFlight(limits);
    registerInFlightMetrics(registry, maxInFlight);
    return { maxInFlight, fairness: undefined };
  }
  const fairness = new PriorityAndFairness({ limits, waitLimitMs: requestTimeoutMs / WAIT_SHARE });
  parts.add(() => fairness.close());
  registerInFlightMetrics(registry, fairness);
  registerFairnessMetrics(registry, fairness);
  return { maxInFlight: undefined, fairness };
}
