import { Gauge, type Registry } from 'prom-client';
import { SeriesCounter, SeriesHistogram, type CounterSeries, type HistogramSeries } from '../observability/series';
import { BOUNDS, type FlowStats, type Rejection } from './flow-stats';
import type { PriorityAndFairness } from './priority-and-fairness';
import type { PriorityLevel } from './priority-level';
import { RATIO_BOUNDS, type RatioSamples } from './ratio-samples';

const PREFIX = 'apiserver_flowcontrol_';
const FLOW_LABELS = ['flow_schema', 'priority_level'];

/** The metrics of priority and fairness, under kube-apiserver's names. */
export function registerFairnessMetrics(registry: Registry, fairness: PriorityAndFairness): void {
  registerCounters(registry, fairness);
  registerHistograms(registry, fairness);
  registerRatios(registry, fairness);
  registerFlowGauges(registry, fairness);
  registerLevelGauges(registry, fairness);
  new Gauge({
    name: 'apiserver_current_inqueue_requests',
    help: 'The most requests that waited at once since the metrics were last read.',
    labelNames: ['request_kind'],
    registers: [registry],
    collect() {
      for (const load of [fairness.reads, fairness.writes]) {
        this.set({ request_kind: load.kind }, load.takeMostWaiting());
      }
    },
  });
}

function* used({ stats }: PriorityAndFairness): Iterable<FlowStats> {
  for (const one of stats) if (one.isUsed) yield one;
}

function registerCounters(registry: Registry, fairness: PriorityAndFairness): void {
  const counter = (name: string, help: string, labelNames: string[], series: () => Iterable<CounterSeries>): void => {
    new SeriesCounter({ name: `${PREFIX}${name}`, help, labelNames, registry, series });
  };
  counter('dispatched_requests_total', 'Requests that were executed.', FLOW_LABELS, function* () {
    for (const { labels, dispatched } of used(fairness)) if (dispatched > 0) yield { labels, value: dispatched };
  });
  counter('rejected_requests_total', 'Requests that were turned away.', [...FLOW_LABELS, 'reason'], function* () {
    for (const { labels, rejected } of used(fairness)) {
      for (const reason of Object.keys(rejected) as Rejection[]) {
        if (rejected[reason] > 0) yield { labels: { ...labels, reason }, value: rejected[reason] };
      }
    }
  });
  counter(
    'request_dispatch_no_accommodation_total',
    'How often seats were free, but fewer than the next request takes.',
    FLOW_LABELS,
    function* () {
      for (const { name, notAccommodated } of fairness.levels) {
        if (notAccommodated > 0) yield { labels: { flow_schema: '', priority_level: name }, value: notAccommodated };
      }
    },
  );
}

function registerHistograms(registry: Registry, fairness: PriorityAndFairness): void {
  const histogram = (
    name: string,
    help: string,
    bounds: readonly number[],
    of: (stats: FlowStats) => readonly HistogramSeries[],
    labelNames = FLOW_LABELS,
  ): void => {
    const series = function* (): Iterable<HistogramSeries> {
      for (const stats of used(fairness)) for (const one of of(stats)) if (one.counts.some((n) => n > 0)) yield one;
    };
    new SeriesHistogram({ name: `${PREFIX}${name}`, help, bounds, labelNames, registry, series });
  };
  const withExecute = [...FLOW_LABELS, 'execute'];
  const waited = ({ waitedToRun, waitedInVain }: FlowStats): readonly HistogramSeries[] => [waitedToRun, waitedInVain];
  histogram('request_execution_seconds', 'How long requests were executed.', BOUNDS.duration, (one) => [one.execution]);
  histogram('request_wait_duration_seconds', 'How long requests waited.', BOUNDS.duration, waited, withExecute);
  histogram(
    'request_queue_length_after_enqueue',
    'The length of the queue that a request came to.',
    BOUNDS.length,
    (one) => [one.queueLength],
  );
  histogram('work_estimated_seats', 'Seats that requests were taken to need.', BOUNDS.seats, (one) => [one.seats]);
}

function registerRatios(registry: Registry, fairness: PriorityAndFairness): void {
  const register = (
    name: string,
    what: string,
    labelNames: readonly string[],
    all: () => Iterable<RatioSamples>,
  ): void => {
    const read = function* (of: (samples: RatioSamples) => readonly HistogramSeries[]): Iterable<HistogramSeries> {
      const now = performance.now();
      for (const samples of all()) {
        samples.catchUp(now);
        yield* of(samples);
      }
    };
    const common = { registry, bounds: RATIO_BOUNDS };
    new SeriesHistogram({
      ...common,
      name: `${PREFIX}${name}_request_count_samples`,
      help: `Requests of ${what} at the end of each millisecond, as a part of what may be.`,
      labelNames,
      series: () => read(({ samples }) => [samples]),
    });
    new SeriesHistogram({
      ...common,
      name: `${PREFIX}${name}_request_count_watermarks`,
      help: `The most and the least requests of ${what} in each millisecond, as a part of what may be.`,
      labelNames: [...labelNames, 'mark'],
      series: () => read(({ high, low }) => [high, low]),
    });
  };
  register('priority_level', 'a priority level', ['phase', 'priority_level'], function* () {
    for (const { isExempt, executingSamples, waitingSamples } of fairness.levels) {
      if (!isExempt) yield* [executingSamples, waitingSamples];
    }
  });
  register('read_vs_write', 'a kind', ['phase', 'request_kind'], () =>
    [fairness.reads, fairness.writes].flatMap(({ executing, waitingRatio }) => [executing, waitingRatio]),
  );
}

function registerFlowGauges(registry: Registry, fairness: PriorityAndFairness): void {
  const gauge = (name: string, help: string, of: (stats: FlowStats) => number): void => {
    new Gauge({
      name: `${PREFIX}${name}`,
      help,
      labelNames: FLOW_LABELS,
      registers: [registry],
      collect() {
        this.reset();
        for (const stats of used(fairness)) this.set(stats.labels, of(stats));
      },
    });
  };
  gauge('current_executing_requests', 'Requests that are executed.', ({ executing }) => executing);
  gauge('current_inqueue_requests', 'Requests that wait in queues.', ({ waiting }) => waiting);
}

function registerLevelGauges(registry: Registry, fairness: PriorityAndFairness): void {
  const gauge = (name: string, help: string, of: (level: PriorityLevel) => number): void => {
    new Gauge({
      name: `${PREFIX}${name}`,
      help,
      labelNames: ['priority_level'],
      registers: [registry],
      collect() {
        this.reset();
        for (const level of fairness.levels) if (!level.isExempt) this.set({ priority_level: level.name }, of(level));
      },
    });
  };
  const limit = ({ limit: seats }: PriorityLevel): number => seats;
  gauge('request_concurrency_limit', 'Seats of a priority level.', limit);
  gauge('nominal_limit_seats', 'Seats that are configured for a priority level.', limit);
  gauge('current_limit_seats', 'Seats that a priority level has now.', limit);
  gauge('lower_limit_seats', 'The fewest seats that a priority level may have.', limit);
  gauge('upper_limit_seats', 'The most seats that a priority level may have.', limit);
  gauge('current_executing_seats', 'Seats that are taken.', ({ seatsInUse }) => seatsInUse);
  gauge('request_concurrency_in_use', 'Seats that are taken.', ({ seatsInUse }) => seatsInUse);
}
