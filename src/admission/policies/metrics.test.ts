import { Registry } from 'prom-client';
import { printMetrics } from '../../observability/metrics-text';
import { PolicyMetrics } from './metrics';

it('tells how long policies take to compile and to evaluate', async () => {
  const registry = new Registry();
  const metrics = new PolicyMetrics(registry);
  metrics.compiled(0.02);
  metrics.checked('p', 'b', 'allow', 0.006);
  metrics.checked('p', 'b', 'deny', 0.2);
  const text = String(await printMetrics(registry));
  expect(text).toContain('apiserver_cel_compilation_duration_seconds_bucket{le="0.025"} 1');
  expect(text).toContain('apiserver_cel_evaluation_duration_seconds_bucket{le="0.01"} 1');
  expect(text).toContain('apiserver_cel_evaluation_duration_seconds_count 2');
});
