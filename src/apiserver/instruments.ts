import { Registry } from 'prom-client';
import { limitRememberedShapes, MOST_SHAPE_BYTES } from '../api/apply/shape';
import type { Auditor } from '../audit/auditor';
import { registerFairnessMetrics } from '../flowcontrol/fairness-metrics';
import { DEFAULT_IN_FLIGHT_LIMITS, MaxInFlight, type InFlightLimits } from '../flowcontrol/max-in-flight';
import { registerInFlightMetrics } from '../flowcontrol/metrics';
import { PriorityAndFairness } from '../flowcontrol/priority-and-fairness';
import { MemoryBudget } from '../memory/memory-budget';
import { cacheLimit, clientMemoryLimit } from '../memory/memory-limit';
import type { Logger } from '../observability/logger';
import { LoopMonitor } from '../observability/loop-monitor';
import { registerMemoryMetrics } from '../observability/memory-metrics';
import { registerProcessMetrics } from '../observability/process-metrics';
import { RequestMetrics } from '../observability/request-metrics';
import { StorageMetrics } from '../storage/metrics';
import type { Store } from '../storage/store';
import { createAuditor, type AuditOptions } from './audit';
import type { CloseStack } from './close-stack';

export interface InstrumentOptions {
  readonly store: Store;
  /** Undefined: nothing is recorded. */
  readonly audit?: AuditOptions | undefined;
  /** Absent: kube-apiserver's. */
  readonly inFlightLimits?: InFlightLimits;
  /** False: requests are only counted against the limits. */
  readonly priorityAndFairness?: boolean;
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
}

/** What measures, records and bounds requests, whatever they ask for. */
export interface Instruments {
  readonly registry: Registry;
  readonly metrics: RequestMetrics;
  readonly auditor: Auditor | undefined;
  /** Without priority and fairness. */
  readonly maxInFlight: MaxInFlight | undefined;
  readonly fairness: PriorityAndFairness | undefined;
  readonly memory: MemoryBudget;
}

export function startInstruments(options: InstrumentOptions, parts: CloseStack): Instruments {
  const { store, audit, logger } = options;
  const registry = new Registry();
  registerProcessMetrics(registry);
  const loopMonitor = new LoopMonitor(registry, logger);
  parts.add(() => loopMonitor.close());
  const metrics = new RequestMetrics(registry);
  new StorageMetrics(registry, store);
  const auditor = audit === undefined ? undefined : createAuditor(audit, registry, logger);
  if (auditor !== undefined) parts.add(() => auditor.close());
  const limits = startLimits(options, registry, parts);
  const memory = new MemoryBudget(clientMemoryLimit(), (bytes) =>
    logger.warn({ bytes }, 'dropped the connection that held most, as the memory for clients was used up'),
  );
  registerMemoryMetrics(registry, memory);
  limitRememberedShapes(cacheLimit(MOST_SHAPE_BYTES));
  return { registry, metrics, auditor, ...limits, memory };
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
