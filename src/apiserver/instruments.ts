import { Registry } from 'prom-client';
import { limitRememberedShapes, MOST_SHAPE_BYTES } from '../api/apply/shape';
import type { Auditor } from '../audit/auditor';
import { MaxInFlight, type InFlightLimits } from '../flowcontrol/max-in-flight';
import { registerInFlightMetrics } from '../flowcontrol/metrics';
import { MemoryBudget } from '../memory/memory-budget';
import { cacheLimit, clientMemoryLimit } from '../memory/memory-limit';
import type { Logger } from '../observability/logger';
import { LoopMonitor } from '../observability/loop-monitor';
import { registerMemoryMetrics } from '../observability/memory-metrics';
import { registerProcessMetrics } from '../observability/process-metrics';
import { RequestMetrics } from '../observability/request-metrics';
import type { Encryption } from '../storage/encryption/encryption';
import { transformationMetrics } from '../storage/encryption/metrics';
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
  /** Absent: values are stored as they are. */
  readonly encryption?: Encryption | undefined;
  readonly logger: Logger;
}

/** What measures, records and bounds requests, whatever they ask for. */
export interface Instruments {
  readonly registry: Registry;
  readonly metrics: RequestMetrics;
  readonly auditor: Auditor | undefined;
  readonly maxInFlight: MaxInFlight;
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
  options.encryption?.measure(transformationMetrics(registry));
  const auditor = audit === undefined ? undefined : createAuditor(audit, registry, logger);
  if (auditor !== undefined) parts.add(() => auditor.close());
  const maxInFlight = new MaxInFlight(options.inFlightLimits);
  registerInFlightMetrics(registry, maxInFlight);
  const memory = new MemoryBudget(clientMemoryLimit(), (bytes) =>
    logger.warn({ bytes }, 'dropped the connection that held most, as the memory for clients was used up'),
  );
  registerMemoryMetrics(registry, memory);
  limitRememberedShapes(cacheLimit(MOST_SHAPE_BYTES));
  return { registry, metrics, auditor, maxInFlight, memory };
}
