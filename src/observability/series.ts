import { Counter, Histogram, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/**
 * Instruments for the hot path. prom-client finds a series by hashing its labels at every observation, which costs more
 * than serving a small request; here the caller keeps its series and adds to numbers, and labels are written only when
 * the metrics are read.
 */

export type Labels = Readonly<Record<string, string>>;

/** A metric whose series are kept by the caller: prints them one by one, so that others have their turn in between. */
export interface PrintsSeries {
  /** The lines of one series each. */
  lines(): Iterable<string>;
}

/** `{verb="GET",code="200"}`, without the last brace; what is there to add comes after a comma. */
function openLabels(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return `{${parts.join(',')}`;
}

function escapeValue(value: string): string {
  return /["\\\n]/.test(value) ? value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n') : value;
}

function closeLabels(open: string, more = ''): string {
  if (more === '') return open === '{' ? '' : `${open}}`;
  return open === '{' ? `{${more}}` : `${open},${more}}`;
}

/** Sums of binary fractions have more digits than their parts. */
function rounded(sum: number): number {
  return Math.round(sum * 1e9) / 1e9;
}

/** How often what was counted came to pass. */
export interface CounterSeries {
  readonly labels: Labels;
  value: number;
}

/** Observations of one set of labels. */
export class HistogramSeries {
  /** Per bucket, not cumulative; the last is for what is above all bounds. */
  readonly counts: number[];
  sum = 0;
  #openLabels: string | undefined;

  constructor(
    readonly labels: Labels,
    /** Those of its metric, or none of them. */
    readonly bounds: readonly number[],
  ) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  /** What the series is called, for printing: made once. */
  get openLabels(): string {
    return (this.#openLabels ??= openLabels(this.labels));
  }

  observe(value: number, times = 1): void {
    this.sum += value * times;
    let low = 0;
    let high = this.bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= this.bounds[middle]!) high = middle;
      else low = middle + 1;
    }
    this.counts[low]! += times;
  }
}

export interface SeriesMetricOptions<Series> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registry: Registry;
  /** All series as they stand, when the metrics are read. */
  readonly series: () => Iterable<Series>;
}

/** A counter whose series are kept by the caller. */
export class SeriesCounter extends Counter implements PrintsSeries {
  private readonly described: { readonly name: string; readonly help: string };
  private readonly series: () => Iterable<CounterSeries>;

  constructor({ name, help, labelNames, registry, series }: SeriesMetricOptions<CounterSeries>) {
    super({ name, help, labelNames: [...labelNames], registers: [registry] });
    this.described = { name, help };
    this.series = series;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const values = [...this.series()].map(({ labels, value }) => ({ labels: { ...labels }, value }));
    return { ...this.described, type: 'counter', aggregator: 'sum', values } as unknown as MetricObjectWithValues<
      MetricValue<string>
    >;
  }

  *lines(): Iterable<string> {
    const { name } = this.described;
    for (const { labels, value } of this.series()) yield `${name}${closeLabels(openLabels(labels))} ${value}`;
  }
}

type HistogramValues = Awaited<ReturnType<Histogram['get']>>;

/** A histogram whose series are kept by the caller. */
export class SeriesHistogram extends Histogram implements PrintsSeries {
  private readonly described: { readonly name: string; readonly help: string };
  private readonly series: () => Iterable<HistogramSeries>;
  private readonly bounds: readonly number[];

  constructor(options: SeriesMetricOptions<HistogramSeries> & { readonly bounds: readonly number[] }) {
    const { name, help, labelNames, registry, series, bounds } = options;
    super({ name, help, labelNames: [...labelNames], registers: [registry], buckets: [...bounds] });
    this.described = { name, help };
    this.series = series;
    this.bounds = bounds;
  }

  override async get(): Promise<HistogramValues> {
    const values = [...this.series()].flatMap((series) => this.valuesOf(series));
    return { ...this.described, type: 'histogram', aggregator: 'sum', values } as unknown as HistogramValues;
  }

  /** What the registry calls when it prints. */
  async getForPromString(): Promise<HistogramValues> {
    return this.get();
  }

  *lines(): Iterable<string> {
    const { name } = this.described;
    const les = this.bounds.map((bound) => `le="${bound}"`);
    for (const { openLabels: open, counts, sum, bounds } of this.series()) {
      let total = 0;
      let text = '';
      for (let index = 0; index < counts.length; index++) {
        total += counts[index]!;
        const le = index < bounds.length ? les[index] : 'le="+Inf"';
        text += `${name}_bucket${closeLabels(open, le)} ${total}\n`;
      }
      const closed = closeLabels(open);
      yield `${text}${name}_sum${closed} ${rounded(sum)}\n${name}_count${closed} ${total}`;
    }
  }

  private valuesOf({ labels, counts, sum, bounds }: HistogramSeries): readonly object[] {
    const { name } = this.described;
    let total = 0;
    const buckets = counts.map((count, index) => {
      total += count;
      return { labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: total, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels: { ...labels }, value: rounded(sum), metricName: `${name}_sum` },
      { labels: { ...labels }, value: total, metricName: `${name}_count` },
    ];
  }
}
