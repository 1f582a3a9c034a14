import type { Registry } from 'prom-client';
import { HistogramSeries, SeriesHistogram, type Labels } from '../observability/series';
import type { Operation } from './plugin';

export type AdmissionStep = 'admit' | 'validate';

/** Takes down one decision. */
export type RecordDecision = (rejected: boolean, seconds: number) => void;

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

  /** For the decisions of one plugin; to be kept, since finding the series costs more than adding to it. */
  pluginRecorder(name: string, step: AdmissionStep, operation: Operation): RecordDecision {
    return recorder(this.controllers, `${name} ${step} ${operation}`, (rejected) => ({
      name,
      operation,
      rejected,
      type: step,
    }));
  }

  /** For the decisions of all plugins of a step together. */
  stepRecorder(step: AdmissionStep, operation: Operation): RecordDecision {
    return recorder(this.steps, `${step} ${operation}`, (rejected) => ({ operation, rejected, type: step }));
  }
}

/** Series come into being with their first observation. */
function recorder(
  all: Map<string, HistogramSeries>,
  key: string,
  labelsOf: (rejected: string) => Labels,
): RecordDecision {
  const find = (rejected: boolean): HistogramSeries => {
    let series = all.get(`${key} ${rejected}`);
    if (series === undefined) {
      series = new HistogramSeries(labelsOf(String(rejected)), BOUNDS);
      all.set(`${key} ${rejected}`, series);
    }
    return series;
  };
  let admitted: HistogramSeries | undefined;
  return (rejected, seconds) => {
    if (rejected) find(true).observe(seconds);
    else (admitted ??= find(false)).observe(seconds);
  };
}
