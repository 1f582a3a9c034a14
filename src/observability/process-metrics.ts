import { collectDefaultMetrics, Registry } from 'prom-client';

let ofProcess: Registry | undefined;

/**
 * Puts what is known of the process (memory, handles, garbage collection ...) into a server's registry. It is measured once,
 * however many servers a process has and had: prom-client's observers cannot be ended.
 */
export function registerProcessMetrics(registry: Registry): void {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  for (const { name } of ofProcess.getMetricsAsArray()) {
    const metric = ofProcess.getSingleMetric(name);
    if (metric !== undefined) registry.registerMetric(metric);
  }
}
