import { Registry } from 'prom-client';
import { LoopMonitor } from './loop-monitor';
import { beginWork, takeLongestWork, type Work } from '../async/loop-work';

describe('the work that held the loop', () => {
  beforeEach(() => void takeLongestWork(1000));

  it('is what began last before nothing else did for longest', () => {
    beginWork('short', 1010);
    beginWork('long', 1011);
    beginWork('short', 1200);
    expect(takeLongestWork(1210)).toEqual({ work: 'long', ms: 189, begun: 3 });
  });

  it('may be the last', () => {
    beginWork('short', 1001);
    beginWork('last', 1002);
    expect(takeLongestWork(1300)).toEqual({ work: 'last', ms: 298, begun: 2 });
  });

  it('is not known when nobody said a thing, and forgotten once it was asked for', () => {
    beginWork('before', 1001);
    takeLongestWork(1002);
    expect(takeLongestWork(1300)).toEqual({ work: undefined, ms: 298, begun: 0 });
  });
});

describe('the monitor of the loop', () => {
  const logged: unknown[] = [];
  let now = 0;
  let monitor: LoopMonitor;
  const registry = new Registry();
  const request: Work = {
    workOwner: 'a',
    describeWork: () => ({ verb: 'patch', resource: 'pods', user: 'alice', bytes: 100 }),
  };

  /** The next look at the loop, so many milliseconds after the last. */
  async function look(afterMs: number): Promise<void> {
    now += afterMs;
    jest.advanceTimersByTime(20);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  beforeAll(() => {
    now = 5000;
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance', 'nextTick', 'queueMicrotask'] });
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    monitor = new LoopMonitor(registry, { warn: (...line: unknown[]) => logged.push(line) } as never);
  });
  afterAll(() => {
    monitor.close();
    jest.useRealTimers();
    jest.restoreAllMocks();
  });
  beforeEach(() => void logged.splice(0));

  it('is silent as long as the loop comes in time', async () => {
    await look(20);
    await look(119);
    expect(logged).toEqual([]);
  });

  it('tells which request held it', async () => {
    beginWork(request, now + 1);
    await look(270);
    expect(logged).toEqual([
      [
        expect.objectContaining({
          delayMs: 250,
          longest: { verb: 'patch', resource: 'pods', user: 'alice', bytes: 100 },
          longestMs: 269,
          begun: 1,
        }),
        'the event loop was held',
      ],
    ]);
  });

  it('tells once a second, and then how many it left out', async () => {
    await look(320);
    await look(320);
    expect(logged).toEqual([]);
    await look(420);
    expect(logged).toEqual([[expect.objectContaining({ delayMs: 400, leftOut: 2 }), expect.anything()]]);
  });

  it('counts delays in the metrics, with the longest since they were last read', async () => {
    const text = await registry.metrics();
    expect(text).toContain('nodejs_eventloop_delay_seconds_bucket{le="0.1"} 2');
    expect(text).toContain('nodejs_eventloop_delay_seconds_bucket{le="0.25"} 3');
    expect(text).toContain('nodejs_eventloop_delay_seconds_count 6');
    expect(text).toContain('nodejs_eventloop_delay_max_seconds 0.4');
    expect(text).toMatch(/nodejs_eventloop_utilization [0-9.]+/);
    expect(await registry.metrics()).toContain('nodejs_eventloop_delay_max_seconds 0\n');
  });
});
