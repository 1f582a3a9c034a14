import type { Registry } from 'prom-client';
import { HistogramSeries, SeriesHistogram } from '../observability/series';
import type { Operation } from './plugin';

export type AdmissionStep = 'admit' | 'validate';

const BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5];

/** How long admission takes, under kube-apiserver's names. One per server; the registry is passed in. */
export class AdmissionMetrics {
  private readonly controllers = new Map<string, HistogramSeries>();
  private readonly steps = new Map<string, HistogramSeries>();

  constructor(registry: Registry) {
    const labels = ['operation', 'rejected', 'type'];
    new SeriesHistogram({
      name: 'apiserver_admission_controller_admission_duration_seconds',
      help: 'Time that one admission plugin took to decide about a request.',
      labelNames: ['name', ...labels],
      registry,
      bounds: BOUNDS,
      series: () => this.controllers.values(),
    });
    new SeriesHistogram({
      name: 'apiserver_admission_step_admission_duration_seconds',
      help: 'Time that all plugins of one step of admission took together.',
      labelNames: labels,
      registry,
      bounds: BOUNDS,
      series: () => this.steps.values(),
    });
  }

  recordPlugin(name: string, step: AdmissionStep, operation: Operation, rejected: boolean, seconds: number): void {
    const key = `${name} ${step} ${operation} ${rejected}`;
    let series = this.controllers.get(key);
    if (series === undefined) {
      series = new HistogramSeries({ name, operation, rejected: String(rejected), type: step }, BOUNDS);
      this.controllers.set(key, series);
    }
    series.observe(seconds);
  }

  recordStep(step: AdmissionStep, operation: Operation, rejected: boolean, seconds: number): void {
    const key = `${step} ${operation} ${rejected}`;
    let series = this.steps.get(key);
    if (series === undefined) {
      series = new HistogramSeries({ operation, rejected: String(rejected), type: step }, BOUNDS);
      this.steps.set(key, series);
    }
    series.observe(seconds);
  }
}
