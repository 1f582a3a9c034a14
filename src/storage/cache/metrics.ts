import { Gauge, type Registry } from 'prom-client';
import { HistogramSeries, SeriesCounter, SeriesHistogram, type CounterSeries } from '../../observability/series';
import type { StoredResource } from '../metrics';
import type { RegistryCache } from './cache';
import type { CacheObserver } from './cache-options';

const LOAD_BOUNDS = [0.1, 0.5, 1, 5, 15, 60];
const WAIT_BOUNDS = [0.005, 0.025, 0.1, 0.4, 1, 3];

/** What the cache is told of by whoever builds it. */
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
  readonly #undecodable: CounterSeries = { labels: {}, value: 0 };
  readonly #resourceOf: CacheMetricsOptions['resourceOf'];
  readonly #registry: Registry;

  constructor({ registry, resourceOf }: CacheMetricsOptions) {
    this.#registry = registry;
    this.#resourceOf = resourceOf;
    new SeriesCounter({
      name: 'apiserver_watch_cache_events_received_total',
      help: 'Events that memory took in.',
      labelNames: ['group', 'resource'],
      registry,
      series: () => this.#events.values(),
    });
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
    counter('apiserver_storage_decode_errors_total', 'Stored values that were not understood.', this.#undecodable);
  }

  /** Tells from now on what this cache holds. */
  observe(cache: Pick<RegistryCache, 'sizes' | 'revision' | 'historySize'>): void {
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

  eventsReceived(storagePrefix: string, count: number): void {
    let series = this.#events.get(storagePrefix);
    if (series === undefined) {
      const { group, resource } = this.#resourceOf(storagePrefix);
      const labels: Record<string, string> = group === '' ? { resource } : { group, resource };
      this.#events.set(storagePrefix, (series = { labels, value: 0 }));
    }
    series.value += count;
  }

  decodeFailed(): void {
    this.#undecodable.value++;
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
  }
}
