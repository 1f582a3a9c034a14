import type { Registry } from 'prom-client';
import { Counter, Gauge } from 'prom-client';
import type { Availability } from './availability';

/** Which API servers behind this one cannot be used, under kube-apiserver's names. */
export class AvailabilityMetrics {
  readonly #unavailable: Gauge<'name'>;
  readonly #becameUnavailable: Counter<'name' | 'reason'>;
  /** What each was found to be last: a reason, or nothing while it is available. */
  readonly #reasons = new Map<string, string | undefined>();

  constructor(registry: Registry) {
    this.#unavailable = new Gauge({
      name: 'aggregator_unavailable_apiservice',
      help: 'Whether the API server of an APIService is unavailable: 1, or 0.',
      labelNames: ['name'],
      registers: [registry],
    });
    this.#becameUnavailable = new Counter({
      name: 'aggregator_unavailable_apiservice_total',
      help: 'How often the API server of an APIService has become unavailable, or for another reason.',
      labelNames: ['name', 'reason'],
      registers: [registry],
    });
  }

  found(name: string, { status, reason }: Availability): void {
    const why = status === 'True' ? undefined : reason;
    this.#unavailable.set({ name }, why === undefined ? 0 : 1);
    if (why !== undefined && this.#reasons.get(name) !== why) this.#becameUnavailable.inc({ name, reason: why });
    this.#reasons.set(name, why);
  }

  /** The APIService is gone, and its series with it. */
  forget(name: string): void {
    this.#reasons.delete(name);
    this.#unavailable.remove({ name });
  }
}
