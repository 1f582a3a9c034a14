import type { Registry } from 'prom-client';
import { HistogramSeries, SeriesCounter, SeriesHistogram } from '../observability/series';
import type { Attributes, Authorization, Authorizer } from './attributes';

const RESULTS = { allow: 'allowed', deny: 'denied', 'no-opinion': 'no-opinion', error: 'error' } as const;
type Result = keyof typeof RESULTS;

const DURATION_BOUNDS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);

/** The metrics of authorization, under kube-apiserver's names. One per server; the registry is passed in. */
export class AuthorizationMetrics {
  readonly #attempts = new Map<Result, HistogramSeries>();

  constructor(registry: Registry) {
    new SeriesCounter({
      name: 'authorization_attempts_total',
      help: 'Decisions about requests, by their result.',
      labelNames: ['result'],
      registry,
      series: () =>
        [...this.#attempts.values()].map(({ labels, counts }) => ({ labels, value: counts.reduce((a, b) => a + b) })),
    });
    new SeriesHistogram({
      name: 'authorization_duration_seconds',
      help: 'Time that it took to decide about a request.',
      labelNames: ['result'],
      registry,
      bounds: DURATION_BOUNDS,
      series: () => this.#attempts.values(),
    });
  }

  decided({ decision, error }: Pick<Authorization, 'decision' | 'error'>, startMs: number): void {
    const result = decision !== 'allow' && error !== undefined ? 'error' : decision;
    let known = this.#attempts.get(result);
    if (known === undefined) {
      this.#attempts.set(result, (known = new HistogramSeries({ result: RESULTS[result] }, DURATION_BOUNDS)));
    }
    known.observe((performance.now() - startMs) / 1000);
  }
}

/** Counts and times what `authorize` decides. */
export function measuredAuthorizer(authorize: Authorizer, metrics: AuthorizationMetrics): Authorizer {
  const later = async (response: Promise<Authorization>, startMs: number): Promise<Authorization> => {
    try {
      const decided = await response;
      metrics.decided(decided, startMs);
      return decided;
    } catch (error) {
      metrics.decided({ decision: 'no-opinion', error: String(error) }, startMs);
      throw error;
    }
  };
  return (attributes: Attributes) => {
    const startMs = performance.now();
    const decision = authorize(attributes);
    if (decision instanceof Promise) return later(decision, startMs);
    metrics.decided(decision, startMs);
    return decision;
  };
}
