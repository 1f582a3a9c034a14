import { Registry } from 'prom-client';
import { printMetrics } from '../observability/metrics-text';
import { StoreRequestMetrics } from './request-metrics';
import { StoredResources } from './stored-resources';

const resources = new StoredResources('/registry/', [
  { storagePrefix: 'pods', group: '', resource: 'pods' },
  { storagePrefix: 'services/specs', group: '', resource: 'services' },
  { storagePrefix: 'ingress', group: 'networking.k8s.io', resource: 'ingresses' },
]);

describe('whose a key is', () => {
  it('is told by the segments at its beginning', () => {
    expect(resources.of('/registry/pods/default/a')).toEqual({ group: '', resource: 'pods' });
    expect(resources.of('/registry/services/specs/default/a')).toEqual({ group: '', resource: 'services' });
    expect(resources.of('/registry/ingress/default/a')).toMatchObject({ resource: 'ingresses' });
    expect(resources.of('/registry/example.io/widgets/default/a')).toEqual({
      group: 'example.io',
      resource: 'widgets',
    });
    expect(resources.under('services/specs')).toEqual({ group: '', resource: 'services' });
  });

  it('is not known of what no resource is stored under', () => {
    for (const key of [
      '/registry/ranges/serviceips',
      '/registry/masterleases/10.0.0.1',
      '/other/pods/a',
      '/registry/x',
    ]) {
      expect(resources.of(key)).toBeUndefined();
    }
  });
});

describe('the metrics of requests to the store', () => {
  it('count by operation and resource, and errors apart', async () => {
    const registry = new Registry();
    const { record } = new StoreRequestMetrics(registry, resources.of);
    const call = { operation: 'update', key: '/registry/pods/default/a', durationSeconds: 0.01 } as const;
    record({ ...call, outcome: 'ok' });
    record({ ...call, outcome: 'rejected' });
    record({ ...call, outcome: 'error' });
    record({ ...call, operation: 'health', key: '', outcome: 'ok' });
    const text = String(await printMetrics(registry));
    expect(text).toContain('etcd_requests_total{operation="update",resource="pods"} 3');
    expect(text).toContain('etcd_request_errors_total{operation="update",resource="pods"} 1');
    expect(text).toContain('etcd_request_duration_seconds_bucket{operation="update",resource="pods",le="0.025"} 3');
    expect(text).toContain('etcd_requests_total{operation="health"} 1');
  });

  it('count custom resources without their names once there are very many', async () => {
    const registry = new Registry();
    const { record } = new StoreRequestMetrics(registry, resources.of);
    for (let index = 0; index < 2_100; index++) {
      const key = `/registry/example.io/r${index}/a`;
      record({ operation: 'get', key, outcome: 'ok', durationSeconds: 0.01 });
    }
    const text = String(await printMetrics(registry));
    expect(text.match(/^etcd_requests_total\{/gm)).toHaveLength(2_001);
    expect(text).toContain('etcd_requests_total{operation="get"} 100');
  });

  it('forget a custom resource that is gone', async () => {
    const registry = new Registry();
    const metrics = new StoreRequestMetrics(registry, resources.of);
    for (const key of ['/registry/example.io/widgets/a', '/registry/example.io/gadgets/a', '/registry/pods/a/b']) {
      for (const operation of ['create', 'delete'] as const)
        metrics.record({ operation, key, outcome: 'ok', durationSeconds: 0.01 });
    }
    metrics.forget({ group: 'example.io', resource: 'widgets' });
    const text = String(await printMetrics(registry));
    expect(text).not.toContain('widgets');
    expect(text.match(/^etcd_requests_total\{/gm)).toHaveLength(4);
  });
});
