import { Gauge, type Registry } from 'prom-client';
import { HistogramSeries, SeriesCounter, SeriesHistogram, type CounterSeries } from '../../observability/series';
import type { StoredResource } from '../metrics';
import type { RegistryCache } from './cache';
import type { CacheObserver } from './cache-options';
import type { ResourceActivity } from './resource-activity';

const LOAD_BOUNDS = [0.1, 0.5, 1, 5, 15, 60];
const WAIT_BOUNDS = [0.005, 0.025, 0.1, 0.4, 1, 3];

/** What the cache tells its metrics. */
export interface CacheMetricsOptions {
  readonly registry: Registry;
  /** By storage prefix. */
  readonly resourceOf: (storagePrefix: string) => StoredResource;
}

/** What memory holds and how it follows the store, under kube-apiserver's names for its watch cache where it has them. */
export class CacheMetrics implements CacheObserver {
  readonly #events = new Map<string, CounterSeries>();
  readonly #loads = new HistogramSeries({}, LOAD_BOUNDS);
  readonly #waits = new HistogramSeries({}, WAIT_BOUNDS);
  readonly #late: CounterSeries = { labels: {}, value: 0 };
  readonly #broken: CounterSeries = { labels: {}, value: 0 };
  readonly #undecodable = new Map<string, CounterSeries>();
  readonly #progress: CounterSeries = { labels: {}, value: 0 };
  readonly #resourceOf: CacheMetricsOptions['resourceOf'];
  readonly #registry: Registry;

  constructor({ registry, resourceOf }: CacheMetricsOptions) {
    this.#registry = registry;
    this.#resourceOf = resourceOf;
    const byResource = (name: string, help: string, series: () => Iterable<CounterSeries>): void =>
      void new SeriesCounter({ name, help, labelNames: ['group', 'resource'], registry, series });
    // What memory takes in comes from the store, and goes to watches.
    byResource('apiserver_watch_cache_events_received_total', 'Events that memory took in.', () =>
      this.#events.values(),
    );
    byResource('apiserver_watch_cache_events_dispatched_total', 'Events that memory handed to watches.', () =>
      this.#events.values(),
    );
    byResource('apiserver_storage_events_received_total', "Events of the store's that were understood.", () =>
      this.#events.values(),
    );
    byResource('apiserver_storage_decode_errors_total', 'Stored values that were not understood.', () =>
      this.#undecodable.values(),
    );
    new SeriesHistogram({
      name: 'apiserver_watch_cache_initialization_duration_seconds',
      help: 'Time that it took to load the registry into memory, the first time and again.',
      labelNames: [],
      registry,
      bounds: LOAD_BOUNDS,
      series: () => [this.#loads],
    });
    new SeriesHistogram({
      name: 'apiserver_watch_cache_read_wait_seconds',
      help: 'Time that reads waited until memory had reached the revision that they need; those without a wait are not among them.',
      labelNames: [],
      registry,
      bounds: WAIT_BOUNDS,
      series: () => [this.#waits],
    });
    const counter = (name: string, help: string, of: CounterSeries): void =>
      void new SeriesCounter({ name, help, labelNames: [], registry, series: () => [of] });
    counter(
      'sternpost_cache_read_timeouts_total',
      'Reads that memory did not become recent enough for in time.',
      this.#late,
    );
    counter(
      'sternpost_cache_watch_restarts_total',
      'Watches of the store that broke and were opened anew.',
      this.#broken,
    );
    counter('etcd_bookmark_total', 'How often the store said how far it is, without an event.', this.#progress);
  }

  /** Tells from now on what this cache holds. */
  observe(cache: Pick<RegistryCache, 'sizes' | 'revision' | 'historySize' | 'activities'>): void {
    this.#observeActivity(cache);
    const registers = [this.#registry];
    const resourceOf = this.#resourceOf;
    const objects = (name: string, help: string, withGroup: boolean): void => {
      new Gauge({
        name,
        help,
        labelNames: withGroup ? ['group', 'resource'] : ['resource'],
        registers,
        // Every process of one replica holds all of them.
        aggregator: 'max',
        collect() {
          this.reset();
          for (const [storagePrefix, size] of cache.sizes()) {
            const { group, resource } = resourceOf(storagePrefix);
            const qualified = group === '' ? resource : `${resource}.${group}`;
            this.set(withGroup ? { ...(group === '' ? {} : { group }), resource } : { resource: qualified }, size);
          }
        },
      });
    };
    objects('apiserver_storage_objects', 'Stored objects, by resource and group.', false);
    objects('apiserver_resource_objects', 'The same, with a label for each.', true);
    const gauge = (name: string, help: string, value: () => number): void =>
      void new Gauge({
        name,
        help,
        registers,
        aggregator: 'max',
        collect() {
          this.set(value());
        },
      });
    gauge('apiserver_watch_cache_resource_version', 'The revision that memory has reached.', () => cache.revision);
    gauge(
      'sternpost_cache_history_events',
      'Recent events that are kept for watches that go on where they were.',
      () => cache.historySize.events,
    );
    gauge('sternpost_cache_history_bytes', 'Bytes of these events, roughly.', () => cache.historySize.bytes);
  }

  loaded(_objects: number, durationMs: number): void {
    this.#loads.observe(durationMs / 1000);
  }

  #observeActivity(cache: Pick<RegistryCache, 'activities'>): void {
    const counter = (
      name: string,
      help: string,
      of: (activity: ResourceActivity) => number,
      more: Readonly<Record<string, string>> = {},
    ): { series: () => Iterable<CounterSeries> } & Record<'name' | 'help', string> => ({
      name,
      help,
      series: () =>
        [...cache.activities()]
          .filter(([, activity]) => of(activity) > 0)
          .map(([prefix, activity]) => ({ labels: { ...this.#labelsOf(prefix), ...more }, value: of(activity) })),
    });
    const labelNames = ['group', 'resource'];
    const registry = this.#registry;
    for (const one of [
      counter(
        'apiserver_watch_cache_initializations_total',
        'How often memory was loaded from the store.',
        ({ initializations }) => initializations,
      ),
      counter(
        'apiserver_init_events_total',
        'Objects that new watches were given at their beginning.',
        ({ initialEvents }) => initialEvents,
      ),
      counter(
        'apiserver_terminated_watchers_total',
        'Watches that were ended because their clients did not keep up.',
        ({ terminatedWatches }) => terminatedWatches,
      ),
      counter('apiserver_storage_list_total', 'Lists that the store answered.', ({ storeLists }) => storeLists),
      counter(
        'apiserver_storage_list_fetched_objects_total',
        'Objects that were read from the store for lists.',
        ({ storeFetched }) => storeFetched,
      ),
      counter(
        'apiserver_storage_list_evaluated_objects_total',
        'Objects of the store that were looked at for lists.',
        ({ storeEvaluated }) => storeEvaluated,
      ),
      counter(
        'apiserver_storage_list_returned_objects_total',
        'Objects of the store that lists have given.',
        ({ storeReturned }) => storeReturned,
      ),
    ]) {
      new SeriesCounter({ ...one, labelNames, registry });
    }
    const name = 'apiserver_watch_cache_consistent_read_total';
    const help = 'Reads of the newest state, by whether memory became recent enough or the store was read instead.';
    const served = counter(name, help, (one) => one.consistentReads, { success: 'true', fallback: 'false' });
    const fallback = counter(name, help, (one) => one.fallbackReads, { success: 'false', fallback: 'true' });
    new SeriesCounter({
      name,
      help,
      labelNames: [...labelNames, 'success', 'fallback'],
      registry,
      series: () => [...served.series(), ...fallback.series()],
    });
  }

  eventsReceived(storagePrefix: string, count: number): void {
    this.#seriesIn(this.#events, storagePrefix).value += count;
  }

  decodeFailed(storagePrefix: string): void {
    this.#seriesIn(this.#undecodable, storagePrefix).value++;
  }

  progressReported(): void {
    this.#progress.value++;
  }

  #seriesIn(all: Map<string, CounterSeries>, storagePrefix: string): CounterSeries {
    let series = all.get(storagePrefix);
    if (series === undefined) all.set(storagePrefix, (series = { labels: this.#labelsOf(storagePrefix), value: 0 }));
    return series;
  }

  #labelsOf(storagePrefix: string): Record<string, string> {
    if (storagePrefix === '') return {};
    const { group, resource } = this.#resourceOf(storagePrefix);
    return group === '' ? { resource } : { group, resource };
  }

  watchBroken(): void {
    this.#broken.value++;
  }

  waited(durationMs: number, reached: boolean): void {
    this.#waits.observe(durationMs / 1000);
    if (!reached) this.#late.value++;
  }

  /** A custom resource has gone. */
  forget(storagePrefix: string): void {
    this.#events.delete(storagePrefix);
    this.#undecodable.delete(storagePrefix);
  }
}
