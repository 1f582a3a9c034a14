import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Gauges that a counter's name suggests otherwise of; the ones by type say the same. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]);

let ofProcess: Registry | undefined;

/**
 * Puts what is known of the process (memory, handles, garbage collection ...) into a server's registry. It is measured once,
 * however many servers a process has and had: prom-client's observers cannot be ended.
 */
export function registerProcessMetrics(registry: Registry): void {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
    new Gauge({
      name: 'nodejs_heap_size_limit_bytes',
      help: 'How large the heap may become before the process ends.',
      registers: [ofProcess],
      aggregator: 'max',
      collect() {
        this.set(getHeapStatistics().heap_size_limit);
      },
    });
  }
  for (const { name } of ofProcess.getMetricsAsArray()) {
    const metric = ofProcess.getSingleMetric(name);
    if (metric !== undefined && !LEFT_OUT.has(name)) registry.registerMetric(metric);
  }
}
