import { Counter, Gauge, type Registry } from 'prom-client';
import type { MaybePromise } from '../../api/maybe-promise';
import type { HealthChecks } from './health-routes';
import { runChecks, type HealthCheck } from './health';

const LABELS = ['name', 'type'] as const;

/**
 * The health checks as metrics, for `/metrics/slis` (component SLIs): what each last found, and how often it found what. Counted whenever
 * a check runs, for a probe or for a scrape of these metrics.
 */
export class HealthMetrics {
  readonly #now: Gauge<'name' | 'type'>;
  readonly #total: Counter<'name' | 'type' | 'status'>;

  constructor(readonly registry: Registry) {
    this.#now = new Gauge({
      name: 'kubernetes_healthcheck',
      help: 'What a health check last found: 1 when all is well, otherwise 0.',
      labelNames: LABELS,
      registers: [registry],
    });
    this.#total = new Counter({
      name: 'kubernetes_healthchecks_total',
      help: 'How often a health check has found what.',
      labelNames: [...LABELS, 'status'],
      registers: [registry],
    });
  }

  /** The same checks, counted. */
  counted(checks: HealthChecks): HealthChecks {
    const of = (type: keyof HealthChecks): readonly HealthCheck[] =>
      checks[type].map((one) => ({ ...one, check: () => this.#count(one.name, type, one.check) }));
    return { livez: of('livez'), readyz: of('readyz'), healthz: of('healthz') };
  }

  #count(name: string, type: string, check: HealthCheck['check']): MaybePromise<void> {
    const found = (isWell: boolean): void => {
      this.#now.set({ name, type }, isWell ? 1 : 0);
      this.#total.inc({ name, type, status: isWell ? 'success' : 'error' });
    };
    const failed = (error: unknown): never => {
      found(false);
      throw error;
    };
    let result: MaybePromise<void>;
    try {
      result = check();
    } catch (error) {
      return failed(error);
    }
    return result instanceof Promise ? result.then(() => found(true), failed) : found(true);
  }
}

/** Runs all checks, so that what is printed then is true now. `counted`: by {@link HealthMetrics}. */
export function runAllChecks(counted: HealthChecks): Promise<unknown> {
  const reports = [counted.livez, counted.readyz, counted.healthz].map((checks) => runChecks(checks, []));
  return Promise.all(reports.map(async (report) => report));
}
