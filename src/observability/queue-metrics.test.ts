import { Registry } from 'prom-client';
import { WorkQueue } from '../async/work-queue';
import { WorkQueueMetrics } from './queue-metrics';

it('a queue is there before anything has been in it, for dashboards of a server where nothing happens', async () => {
  const registry = new Registry();
  const { of } = new WorkQueueMetrics(registry);
  const nothing = async (): Promise<void> => undefined;
  const queue = new WorkQueue(nothing, () => undefined, { metrics: (itself) => of('quiet', itself) });
  const text = await registry.metrics();
  for (const line of [
    'workqueue_adds_total{name="quiet"} 0',
    'workqueue_retries_total{name="quiet"} 0',
    'workqueue_depth{name="quiet"} 0',
    'workqueue_queue_duration_seconds_bucket{le="+Inf",name="quiet"} 0',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  await queue.close();
});
