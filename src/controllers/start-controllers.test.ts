import { Registry } from 'prom-client';
import { WorkQueue, type QueueMetrics } from '../async/work-queue';
import { WorkQueueMetrics } from '../observability/queue-metrics';
import { CONTROLLER_NAMES, OFF_BY_DEFAULT, selectControllers, unknownControllers } from './start-controllers';

describe('a list of --controllers', () => {
  it('has all that are on by default with a star, and others by name', () => {
    expect(OFF_BY_DEFAULT).toEqual(['bootstrapsigner', 'tokencleaner']);
    const onByDefault = CONTROLLER_NAMES.filter((name) => !OFF_BY_DEFAULT.includes(name));
    expect(selectControllers(['*'])).toEqual(onByDefault);
    expect(selectControllers(['*', 'tokencleaner'])).toEqual([...onByDefault, 'tokencleaner']);
    expect(selectControllers(['-garbagecollector', '*'])).not.toContain('garbagecollector');
    expect(selectControllers(['podgc'])).toEqual(['podgc']);
    expect(selectControllers([])).toEqual([]);
  });

  it('may have the names of later releases, and those of others are told', () => {
    expect(selectControllers(['garbage-collector-controller'])).toEqual(['garbagecollector']);
    expect(selectControllers(['*', '-garbage-collector-controller'])).not.toContain('garbagecollector');
    expect(unknownControllers(['*', '-deployment', 'podgc', 'token-cleaner-controller'])).toEqual(['-deployment']);
  });
});

describe('the metrics of a work queue', () => {
  it('count what was added, came back and waits', async () => {
    const registry = new Registry();
    const instruments = new WorkQueueMetrics(registry);
    let failures = 1;
    let done: () => void = () => undefined;
    const worked = new Promise<void>((resolve) => (done = resolve));
    const work = async (): Promise<void> => {
      if (failures-- > 0) throw new Error('once');
      done();
    };
    const metrics = (itself: WorkQueue): QueueMetrics => instruments.of('test', itself);
    const queue = new WorkQueue(work, () => undefined, { paused: true, metrics });
    queue.add('key');
    queue.add('key');
    await expect(registry.metrics()).resolves.toContain('workqueue_depth{name="test"} 1');
    queue.resume();
    await worked;
    await queue.close();
    const text = await registry.metrics();
    for (const line of [
      'workqueue_adds_total{name="test"} 2',
      'workqueue_retries_total{name="test"} 1',
      'workqueue_depth{name="test"} 0',
      'workqueue_work_duration_seconds_count{name="test"} 2',
    ]) {
      expect(text).toContain(line);
    }
  });
});
