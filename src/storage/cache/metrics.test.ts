import { Registry } from 'prom-client';
import { printMetrics } from '../../observability/metrics-text';
import { CacheMetrics } from './metrics';
import { ResourceActivity } from './resource-activity';

describe('the metrics of the cache', () => {
  const registry = new Registry();
  const metrics = new CacheMetrics({
    registry,
    resourceOf: (prefix) =>
      prefix === 'pods' ? { group: '', resource: 'pods' } : { group: 'example.io', resource: 'widgets' },
  });
  const activity = new ResourceActivity();
  let sizes: readonly (readonly [string, number])[] = [];
  metrics.observe({
    sizes: () => sizes,
    get revision() {
      return 42 as never;
    },
    historySize: { events: 3, bytes: 300 },
    activities: () => [['pods', activity]],
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

  it('tell what was done with each resource, and leave out what was not', async () => {
    Object.assign(activity, { initializations: 1, consistentReads: 5, fallbackReads: 2, storeLists: 1 });
    Object.assign(activity, { storeFetched: 9, storeEvaluated: 8, storeReturned: 7, initialEvents: 6 });
    metrics.progressReported();
    metrics.decodeFailed('example.io/widgets');
    const text = String(await printMetrics(registry));
    for (const line of [
      'apiserver_watch_cache_initializations_total{resource="pods"} 1',
      'apiserver_watch_cache_consistent_read_total{resource="pods",success="true",fallback="false"} 5',
      'apiserver_watch_cache_consistent_read_total{resource="pods",success="false",fallback="true"} 2',
      'apiserver_storage_list_total{resource="pods"} 1',
      'apiserver_storage_list_fetched_objects_total{resource="pods"} 9',
      'apiserver_storage_list_evaluated_objects_total{resource="pods"} 8',
      'apiserver_storage_list_returned_objects_total{resource="pods"} 7',
      'apiserver_init_events_total{resource="pods"} 6',
      'apiserver_storage_decode_errors_total{group="example.io",resource="widgets"} 1',
      'etcd_bookmark_total 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).not.toContain('apiserver_terminated_watchers_total{');
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
