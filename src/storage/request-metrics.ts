import type { Registry } from 'prom-client';
import {
  HistogramSeries,
  SeriesCounter,
  SeriesHistogram,
  type CounterSeries,
  type Labels,
} from '../observability/series';
import type { StoreCall } from './instrument-store';
import type { StoredResource } from './metrics';

/** Each is one of kube-apiserver's for etcd. */
const BOUNDS = [0.005, 0.025, 0.1, 0.4, 1, 5, 15];

/** Custom resources come and go; what is beyond so many counts without a resource. */
const MAX_SERIES = 2_000;

interface CallSeries {
  readonly duration: HistogramSeries;
  readonly errors: CounterSeries;
}

/** How long the store takes, under the names that kube-apiserver has for etcd, whichever store it is. */
export class StoreRequestMetrics {
  readonly #series = new Map<string, CallSeries>();

  /** `resourceOf`: whose values a key is among; undefined: of no known resource. */
  constructor(
    registry: Registry,
    private readonly resourceOf: (key: string) => StoredResource | undefined,
  ) {
    const labelNames = ['operation', 'group', 'resource'];
    new SeriesHistogram({
      name: 'etcd_request_duration_seconds',
      help: 'Time that the store took to answer.',
      labelNames,
      registry,
      bounds: BOUNDS,
      series: () => Array.from(this.#series.values(), ({ duration }) => duration),
    });
    new SeriesCounter({
      name: 'etcd_requests_total',
      help: 'Requests to the store.',
      labelNames,
      registry,
      series: () =>
        Array.from(this.#series.values(), ({ duration: { labels, counts } }) => ({
          labels,
          value: counts.reduce((sum, count) => sum + count, 0),
        })),
    });
    new SeriesCounter({
      name: 'etcd_request_errors_total',
      help: 'Requests to the store that failed: it could not be reached, took too long, or was asked by somebody who left.',
      labelNames,
      registry,
      series: () => Array.from(this.#series.values(), ({ errors }) => errors),
    });
  }

  readonly record = ({ operation, key, durationSeconds, outcome }: StoreCall): void => {
    const stored = key === '' ? undefined : this.resourceOf(key);
    const series = this.#seriesOf(operation, stored);
    series.duration.observe(durationSeconds);
    if (outcome === 'error') series.errors.value++;
  };

  /** Custom resources come and go: one that is gone leaves nothing behind. */
  forget({ group, resource }: StoredResource): void {
    for (const [id, { errors }] of this.#series) {
      const { group: itsGroup = '', resource: itsResource } = errors.labels;
      if (itsGroup === group && itsResource === resource) this.#series.delete(id);
    }
  }

  #seriesOf(operation: string, stored: StoredResource | undefined): CallSeries {
    const id = stored === undefined ? operation : `${operation} ${stored.group}/${stored.resource}`;
    const known = this.#series.get(id);
    if (known !== undefined) return known;
    if (stored !== undefined && this.#series.size >= MAX_SERIES) return this.#seriesOf(operation, undefined);
    const labels: Labels = {
      operation,
      ...(stored === undefined || stored.group === '' ? {} : { group: stored.group }),
      ...(stored === undefined ? {} : { resource: stored.resource }),
    };
    const made = { duration: new HistogramSeries(labels, BOUNDS), errors: { labels, value: 0 } };
    this.#series.set(id, made);
    return made;
  }
}
