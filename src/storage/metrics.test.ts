import { Registry } from 'prom-client';
import { printMetrics } from '../observability/metrics-text';
import { StorageMetrics } from './metrics';
import type { StoreSpace } from './store';

function measured(space: () => Promise<readonly StoreSpace[]>): {
  readonly registry: Registry;
  readonly asked: () => number;
} {
  const registry = new Registry();
  const ask = jest.fn(space);
  new StorageMetrics(registry, { space: ask });
  return { registry, asked: () => ask.mock.calls.length };
}

describe('how full the store is', () => {
  it('is asked once in a reading of the metrics by a store that does not answer', async () => {
    const { registry, asked } = measured(() => Promise.reject(new Error('it hangs')));
    expect(String(await printMetrics(registry))).not.toMatch(/^apiserver_storage_size_bytes/m);
    expect(asked()).toBe(1);
  });

  it('is asked anew with each reading', async () => {
    let fileBytes = 1;
    const { registry } = measured(async () => [{ endpoint: 'e', fileBytes: fileBytes++ } as StoreSpace]);
    await printMetrics(registry);
    const before = fileBytes;
    expect(String(await printMetrics(registry))).toContain(
      `apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} ${before}`,
    );
  });
});
