import type { Registry } from 'prom-client';
import { SeriesCounter, type CounterSeries } from '../observability/series';
import type { AuditPlugin } from './backend';
import { AUDIT_LEVELS, type AuditLevel } from './policy';

/** The metrics of the audit log, under kube-apiserver's names. */
export class AuditMetrics {
  readonly #levels: ReadonlyMap<AuditLevel, CounterSeries>;
  readonly #events: CounterSeries = { labels: {}, value: 0 };
  readonly #rejected: CounterSeries = { labels: {}, value: 0 };
  readonly #errors = new Map<AuditPlugin, CounterSeries>();

  constructor(registry: Registry) {
    const levels = new Map<AuditLevel, CounterSeries>(
      AUDIT_LEVELS.map((level) => [level, { labels: { level }, value: 0 }]),
    );
    this.#levels = levels;
    new SeriesCounter({
      name: 'apiserver_audit_level_total',
      help: 'Requests by the level at which the audit policy has them recorded.',
      labelNames: ['level'],
      registry,
      series: () => levels.values(),
    });
    new SeriesCounter({
      name: 'apiserver_audit_event_total',
      help: 'Audit events that were made and handed to the backends.',
      labelNames: [],
      registry,
      series: () => [this.#events],
    });
    new SeriesCounter({
      name: 'apiserver_audit_error_total',
      help: 'Audit events that were lost, by the part that lost them.',
      labelNames: ['plugin'],
      registry,
      series: () => this.#errors.values(),
    });
    new SeriesCounter({
      name: 'apiserver_audit_requests_rejected_total',
      help: 'Requests that were refused because their audit event could not be kept.',
      labelNames: [],
      registry,
      series: () => [this.#rejected],
    });
  }

  recordLevel(level: AuditLevel): void {
    this.#levels.get(level)!.value++;
  }

  recordEvent(): void {
    this.#events.value++;
  }

  recordLoss(plugin: AuditPlugin, events: number): void {
    const series = this.#errors.get(plugin) ?? { labels: { plugin }, value: 0 };
    series.value += events;
    this.#errors.set(plugin, series);
  }

  recordRejection(): void {
    this.#rejected.value++;
  }
}
