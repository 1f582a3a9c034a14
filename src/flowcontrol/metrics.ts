import { Gauge, type Registry } from 'prom-client';
import { SeriesCounter } from '../observability/series';
import type { Seats } from './max-in-flight';

/** The metrics of the limits on requests under way, under kube-apiserver's names. */
export function registerInFlightMetrics(
  registry: Registry,
  { readOnly, mutating }: { readonly readOnly: Seats; readonly mutating: Seats },
): void {
  const kinds = [readOnly, mutating];
  new Gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'The most requests that were under way at once since the metrics were last read.',
    labelNames: ['request_kind'],
    registers: [registry],
    collect() {
      for (const seats of kinds) this.set({ request_kind: seats.kind }, seats.takePeak());
    },
  });
  new SeriesCounter({
    name: 'apiserver_dropped_requests_total',
    help: 'Requests that were answered 429 because too many were under way.',
    labelNames: ['request_kind'],
    registry,
    series: () => kinds.map(({ kind, dropped }) => ({ labels: { request_kind: kind }, value: dropped })),
  });
}
