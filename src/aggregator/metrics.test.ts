import { Registry } from 'prom-client';
import { failedDiscovery, PASSED } from './availability';
import { AvailabilityMetrics } from './metrics';

it('tells who is unavailable, how often somebody became so, and nothing of who is gone', async () => {
  const registry = new Registry();
  const metrics = new AvailabilityMetrics(registry);
  const name = 'v1.shop.example.com';
  const failed = failedDiscovery('nobody answers');
  for (const availability of [PASSED, failed, failed, PASSED, failed]) metrics.found(name, availability);
  const reason = failed.reason;
  expect(await registry.metrics()).toContain(`aggregator_unavailable_apiservice{name="${name}"} 1`);
  expect(await registry.metrics()).toContain(
    `aggregator_unavailable_apiservice_total{name="${name}",reason="${reason}"} 2`,
  );
  metrics.forget(name);
  expect(await registry.metrics()).not.toContain('aggregator_unavailable_apiservice{');
});
