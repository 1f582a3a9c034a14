import { Counter, Histogram, type Registry } from 'prom-client';
import { HistogramSeries, SeriesHistogram } from '../../observability/series';

/** The defaults of Prometheus' libraries. */
const CEL_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How often policies are evaluated and what they decide, under kube-apiserver's names. One per server. */
export class PolicyMetrics {
  readonly #checks: Counter;
  readonly #seconds: Histogram;
  readonly #compilations = new HistogramSeries({}, CEL_BOUNDS);
  readonly #evaluations = new HistogramSeries({}, CEL_BOUNDS);

  constructor(registry: Registry) {
    const labelNames = ['policy', 'policy_binding', 'enforcement_action', 'error_type'];
    this.#checks = new Counter({
      name: 'apiserver_validating_admission_policy_check_total',
      help: 'How often policies have been evaluated, by what they decided.',
      labelNames,
      registers: [registry],
    });
    this.#seconds = new Histogram({
      name: 'apiserver_validating_admission_policy_check_duration_seconds',
      help: 'Time that the evaluation of a policy took.',
      labelNames,
      buckets: [0.0000005, 0.001, 0.01, 0.1, 1],
      registers: [registry],
    });
    const cel = (name: string, help: string, series: HistogramSeries): void =>
      void new SeriesHistogram({ name, help, labelNames: [], registry, bounds: CEL_BOUNDS, series: () => [series] });
    cel(
      'apiserver_cel_compilation_duration_seconds',
      'Time to compile the expressions of a policy.',
      this.#compilations,
    );
    cel(
      'apiserver_cel_evaluation_duration_seconds',
      'Time to evaluate the expressions of a policy for a request.',
      this.#evaluations,
    );
  }

  compiled(seconds: number): void {
    this.#compilations.observe(seconds);
  }

  /** An evaluation; denials are counted apart. */
  checked(policy: string, binding: string, decision: 'allow' | 'deny', seconds: number): void {
    const labels = { policy, policy_binding: binding, enforcement_action: decision, error_type: 'no_error' };
    this.#seconds.observe(labels, seconds);
    this.#evaluations.observe(seconds);
    if (decision === 'allow') this.#checks.inc(labels);
  }

  denied(policy: string, binding: string): void {
    this.#checks.inc({ policy, policy_binding: binding, enforcement_action: 'deny', error_type: 'no_error' });
  }
}
