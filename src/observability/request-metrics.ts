import { Counter, Gauge, type Registry } from 'prom-client';
import { WriteMetrics } from './write-metrics';
import { HistogramSeries, SeriesCounter, SeriesHistogram, type CounterSeries, type Labels } from './series';

/** What a request was, in the labels of the metrics: bounded, for nothing here comes from unchecked input. */
export interface RequestLabels {
  /** `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `APPLY`, `DELETE`, `DELETECOLLECTION`, `CONNECT`, `HEAD` or `other`. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Or the path of a non-resource request. */
  readonly subresource: string;
  readonly scope: '' | 'cluster' | 'namespace' | 'resource';
  readonly dryRun: '' | 'All' | 'invalid';
}

/** How a request ended. */
export interface RequestOutcome {
  readonly code: number;
  readonly durationSeconds: number;
  readonly responseBytes: number;
  /** Watches and streams: their time is no latency. */
  readonly longRunning: boolean;
}

const REQUEST_LABELS = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
const WITH_DRY_RUN = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
/**
 * Each is one of kube-apiserver's, so that both can be added up; most of those are left out, as kube-prometheus drops them
 * when it scrapes, and they were most of the text. The limits of the service levels (1, 5 and 30 seconds) are read as they stand.
 */
const DURATION_BOUNDS = [0.005, 0.025, 0.1, 1];
const SLI_BOUNDS = [0.05, 0.1, 0.4, 1, 2, 5, 10, 30];
const RESPONSE_BOUNDS = [1e4, 1e6];
/** How long a watch lasts is no latency: its histogram has one bucket, for all. */
const NO_BOUNDS: readonly number[] = [];
const WATCH_EVENT_BOUNDS = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];

/**
 * More sets of labels than any cluster needs, of 3 kB each. Beyond them requests count by their verb alone: the labels are
 * bounded one by one, but their combinations are many, and any client may ask for them.
 */
const MAX_SERIES = 10_000;

/** All that is kept of the requests of one set of labels. */
interface RequestSeries {
  readonly codes: Map<number, CounterSeries>;
  /** Of counters; those of histograms, which have many lines, are without what is always the same. */
  readonly labels: Labels;
  readonly histogramLabels: Labels;
  readonly duration: HistogramSeries;
  /** Made when there is something to observe. */
  sli: HistogramSeries | undefined;
  sizes: HistogramSeries | undefined;
}

interface WatchSeries {
  readonly events: CounterSeries;
  readonly sizes: HistogramSeries;
}

/** The metrics of requests, under today's names of kube-apiserver. One per server; the registry is passed in. */
export class RequestMetrics {
  private readonly series = new Map<string, RequestSeries>();
  private readonly watches = new Map<string, WatchSeries>();
  readonly writes: WriteMetrics;
  private readonly longRunning: Gauge;
  private readonly terminations: Counter;
  private readonly aborts: Counter;
  private readonly deprecated: Gauge;
  private readonly tlsErrors: Counter;

  constructor(registry: Registry) {
    this.writes = new WriteMetrics(registry);
    const all = this.series;
    const histogram = (
      name: string,
      help: string,
      bounds: readonly number[],
      of: 'duration' | 'sli' | 'sizes',
    ): void => {
      const labelNames = of === 'duration' ? WITH_DRY_RUN : REQUEST_LABELS;
      new SeriesHistogram({
        name,
        help,
        labelNames,
        registry,
        bounds,
        series: () => pick(all.values(), (one) => one[of]),
      });
    };
    new SeriesCounter({
      name: 'apiserver_request_total',
      help: 'Requests by what they asked for and the code of their answer.',
      labelNames: [...WITH_DRY_RUN, 'code'],
      registry,
      series: () => [...all.values()].flatMap(({ codes }) => [...codes.values()]),
    });
    histogram(
      'apiserver_request_duration_seconds',
      'Time from the arrival of a request to the end of its answer.',
      DURATION_BOUNDS,
      'duration',
    );
    histogram('apiserver_request_sli_duration_seconds', 'The same, without long-running requests.', SLI_BOUNDS, 'sli');
    histogram('apiserver_response_sizes', 'Bytes of the answers to reads.', RESPONSE_BOUNDS, 'sizes');
    const watches = this.watches;
    new SeriesCounter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watching clients.',
      labelNames: ['group', 'version', 'resource'],
      registry,
      series: () => pick(watches.values(), ({ events }) => events),
    });
    new SeriesHistogram({
      name: 'apiserver_watch_events_sizes',
      help: 'Bytes of the events sent to watching clients.',
      labelNames: ['group', 'version', 'resource'],
      registry,
      bounds: WATCH_EVENT_BOUNDS,
      series: () => pick(watches.values(), ({ sizes }) => sizes),
    });
    const registers = [registry];
    this.longRunning = new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches and streams that are open now.',
      labelNames: REQUEST_LABELS,
      registers,
    });
    this.terminations = new Counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests that the server ended in self-defence.',
      labelNames: [...REQUEST_LABELS, 'code'],
      registers,
    });
    this.aborts = new Counter({
      name: 'apiserver_request_aborts_total',
      help: 'Requests whose client was gone before it had its whole answer.',
      labelNames: ['verb', 'group', 'version', 'resource', 'subresource', 'scope'],
      registers,
    });
    this.deprecated = new Gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated API versions that have been asked for, with the release that is without them.',
      labelNames: ['group', 'version', 'resource', 'subresource', 'removed_release'],
      registers,
      aggregator: 'max',
    });
    this.tlsErrors = new Counter({
      name: 'apiserver_tls_handshake_errors_total',
      help: 'Connections that ended before their TLS handshake did.',
      registers,
    });
  }

  recordRequest(labels: RequestLabels, outcome: RequestOutcome): void {
    const { code, durationSeconds, responseBytes, longRunning } = outcome;
    const series = this.seriesOf(labels);
    let counter = series.codes.get(code);
    if (counter === undefined) {
      const { dryRun } = labels;
      const names = dryRun === '' ? series.labels : { ...series.labels, dry_run: dryRun };
      counter = { labels: { ...names, code: String(code) }, value: 0 };
      series.codes.set(code, counter);
    }
    counter.value++;
    series.duration.observe(durationSeconds);
    if (!longRunning) (series.sli ??= new HistogramSeries(series.histogramLabels, SLI_BOUNDS)).observe(durationSeconds);
    if (labels.verb === 'GET' || labels.verb === 'LIST') {
      (series.sizes ??= new HistogramSeries(series.histogramLabels, RESPONSE_BOUNDS)).observe(responseBytes);
    }
  }

  /** Returns what takes the request off again. */
  startLongRunning(labels: RequestLabels): () => void {
    const names = requestLabels(labels);
    this.longRunning.inc(names);
    return () => this.longRunning.dec(names);
  }

  /** The server gave up on a request: its deadline, its queue, its shutdown. */
  recordTermination(labels: RequestLabels, code: number): void {
    this.terminations.inc({ ...requestLabels(labels), code: String(code) });
  }

  recordAbort(labels: RequestLabels): void {
    const { component: _component, ...rest } = requestLabels(labels);
    this.aborts.inc(rest);
  }

  recordDeprecated(api: {
    group: string;
    version: string;
    resource: string;
    subresource: string;
    removedRelease: string;
  }): void {
    const { removedRelease, ...labels } = api;
    this.deprecated.set({ ...labels, removed_release: removedRelease }, 1);
  }

  recordTlsHandshakeError(): void {
    this.tlsErrors.inc();
  }

  recordWatchEvents(of: { group: string; version: string; resource: string }, events: number, bytes: number): void {
    if (events === 0) return;
    const key = `${of.group}/${of.version}/${of.resource}`;
    let series = this.watches.get(key);
    if (series === undefined) {
      const labels = Object.fromEntries(Object.entries(of).filter(([, value]) => value !== ''));
      series = { events: { labels, value: 0 }, sizes: new HistogramSeries(labels, WATCH_EVENT_BOUNDS) };
      this.watches.set(key, series);
    }
    series.events.value += events;
    const size = bytes / events;
    for (let count = 0; count < events; count++) series.sizes.observe(size);
  }

  /**
   * Forgets the series of resources that are not served any more, so that definitions that come and go leave nothing
   * behind. What counts watches that have yet to end is forgotten the next time.
   */
  async forgetUnserved(isServed: (group: string, version: string, resource: string) => boolean): Promise<void> {
    const isGone = ({ group = '', version = '', resource = '' }: Partial<Record<string, string | number>>): boolean =>
      resource !== '' && !isServed(String(group), String(version), String(resource));
    const served = new Set<string>();
    for (const [key, { labels }] of this.series) {
      const { group = '', resource = '' } = labels;
      if (isGone(labels)) this.series.delete(key);
      else served.add(group === '' ? resource : `${resource}.${group}`);
    }
    this.writes.forgetUnserved((resource) => served.has(resource));
    for (const [key, { events }] of this.watches) if (isGone(events.labels)) this.watches.delete(key);
    for (const { labels, value } of (await this.longRunning.get()).values) {
      if (value === 0 && isGone(labels)) this.longRunning.remove(labels);
    }
    for (const metric of [this.terminations, this.aborts, this.deprecated]) {
      for (const { labels } of (await metric.get()).values) if (isGone(labels)) metric.remove(labels);
    }
  }

  private seriesOf(labels: RequestLabels): RequestSeries {
    const { verb, group, version, resource, subresource, scope, dryRun } = labels;
    const key = `${verb} ${group}/${version}/${resource}/${subresource} ${scope} ${dryRun}`;
    let series = this.series.get(key);
    if (series === undefined) {
      if (this.series.size >= MAX_SERIES && (resource !== '' || subresource !== '' || dryRun !== '')) {
        return this.seriesOf({ ...NO_LABELS, verb });
      }
      const names = requestLabels(labels);
      const { component: _component, ...histogramLabels } = names;
      series = {
        codes: new Map(),
        labels: names,
        histogramLabels,
        duration: new HistogramSeries(
          dryRun === '' ? histogramLabels : { ...histogramLabels, dry_run: dryRun },
          verb === 'WATCH' || verb === 'CONNECT' ? NO_BOUNDS : DURATION_BOUNDS,
        ),
        sli: undefined,
        sizes: undefined,
      };
      this.series.set(key, series);
    }
    return series;
  }
}

const NO_LABELS: RequestLabels = {
  verb: '',
  group: '',
  version: '',
  resource: '',
  subresource: '',
  scope: '',
  dryRun: '',
};

/** An empty label is the same to Prometheus as none, which is shorter. */
function requestLabels({ verb, group, version, resource, subresource, scope }: RequestLabels): Record<string, string> {
  const all = { verb, group, version, resource, subresource, scope, component: 'apiserver' };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

function* pick<From, To>(all: Iterable<From>, one: (from: From) => To | undefined): Iterable<To> {
  for (const from of all) {
    const picked = one(from);
    if (picked !== undefined) yield picked;
  }
}
