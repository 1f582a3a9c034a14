import { Registry } from 'prom-client';
import { printMetrics } from '../../observability/metrics-text';
import { CacheMetrics } from './metrics';

describe('the metrics of the cache', () => {
  const registry = new Registry();
  const metrics = new CacheMetrics({
    registry,
    resourceOf: (prefix) =>
      prefix === 'pods' ? { group: '', resource: 'pods' } : { group: 'example.io', resource: 'widgets' },
  });
  let sizes: readonly (readonly [string, number])[] = [];
  metrics.observe({
    sizes: () => sizes,
    get revision() {
      return 42 as never;
    },
    historySize: { events: 3, bytes: 300 },
  });

  it('tell how many objects there are now, and nothing of resources that have gone', async () => {
    sizes = [
      ['pods', 2],
      ['example.io/widgets', 5],
    ];
    metrics.eventsReceived('example.io/widgets', 4);
    const before = String(await printMetrics(registry));
    expect(before).toContain('apiserver_storage_objects{resource="pods"} 2');
    expect(before).toContain('apiserver_storage_objects{resource="widgets.example.io"} 5');
    expect(before).toContain('apiserver_resource_objects{group="example.io",resource="widgets"} 5');
    expect(before).toContain('apiserver_watch_cache_events_received_total{group="example.io",resource="widgets"} 4');
    expect(before).toContain('apiserver_watch_cache_resource_version 42');
    expect(before).toContain('sternpost_cache_history_bytes 300');
    sizes = [['pods', 2]];
    metrics.forget('example.io/widgets');
    expect(String(await printMetrics(registry))).not.toContain('widgets');
  });

  it('tell of reads that had to wait, and of those that waited in vain', async () => {
    metrics.waited(3, true);
    metrics.waited(3_000, false);
    const text = String(await printMetrics(registry));
    expect(text).toContain('apiserver_watch_cache_read_wait_seconds_bucket{le="0.005"} 1');
    expect(text).toContain('apiserver_watch_cache_read_wait_seconds_count 2');
    expect(text).toContain('sternpost_cache_read_timeouts_total 1');
  });
});
