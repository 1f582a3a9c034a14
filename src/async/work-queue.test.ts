import { WorkQueue, type QueueMetrics } from './work-queue';

/** A worker that ends when it is told to. */
class Worker {
  readonly started: string[] = [];
  readonly #ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();

  readonly work = (key: string): Promise<void> => {
    this.started.push(key);
    return new Promise((resolve, reject) => this.#ends.set(key, { resolve, reject }));
  };

  async end(key: string): Promise<void> {
    this.#ends.get(key)?.resolve();
    await settle();
  }

  async fail(key: string): Promise<void> {
    this.#ends.get(key)?.reject(new Error(`${key} failed`));
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

const ignore = (): void => undefined;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('a work queue', () => {
  it('works on a key once, however often it was added before it is its turn', async () => {
    const worker = new Worker();
    const queue = new WorkQueue(worker.work, ignore, { maxActive: 1 });
    queue.add('a');
    for (let times = 0; times < 3; times += 1) queue.add('b');
    expect(queue.depth).toBe(1);
    await worker.end('a');
    await worker.end('b');
    expect(worker.started).toEqual(['a', 'b']);
  });

  it('works again on a key that is added while it is worked on, and never twice at once', async () => {
    const worker = new Worker();
    const queue = new WorkQueue(worker.work, ignore);
    queue.add('a');
    queue.add('a');
    expect(worker.started).toEqual(['a']);
    await worker.end('a');
    expect(worker.started).toEqual(['a', 'a']);
  });

  it('passes over a key that is worked on, so that others behind it have their turn', () => {
    const worker = new Worker();
    const queue = new WorkQueue(worker.work, ignore, { maxActive: 2 });
    for (const key of ['a', 'a', 'b']) queue.add(key);
    expect(worker.started).toEqual(['a', 'b']);
  });

  it('works on so many keys at once and no more', async () => {
    const worker = new Worker();
    const queue = new WorkQueue(worker.work, ignore, { maxActive: 2 });
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    expect(worker.started).toEqual(['a', 'b']);
    await worker.end('b');
    expect(worker.started).toEqual(['a', 'b', 'c']);
  });

  it('tries a failed key again after a delay that grows, and forgets about it after a success', async () => {
    const worker = new Worker();
    const failed = jest.fn<undefined, [string, unknown]>();
    const queue = new WorkQueue(worker.work, failed);
    queue.add('a');
    for (const wait of [20, 40, 80]) {
      await worker.fail('a');
      const before = worker.started.length;
      jest.advanceTimersByTime(wait - 1);
      expect(worker.started).toHaveLength(before);
      jest.advanceTimersByTime(1);
      expect(worker.started).toHaveLength(before + 1);
    }
    expect(failed.mock.calls.map(([key]) => key)).toEqual(['a', 'a', 'a']);
    await worker.end('a');
    queue.add('a');
    await worker.fail('a');
    jest.advanceTimersByTime(20);
    expect(worker.started).toHaveLength(6);
  });

  it('works on a key once that several have asked for later, at the earliest of the times', async () => {
    const worker = new Worker();
    const queue = new WorkQueue(worker.work, ignore);
    for (const delay of [300, 100, 200]) queue.addAfter('a', delay);
    jest.advanceTimersByTime(99);
    expect(worker.started).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(worker.started).toEqual(['a']);
    await worker.end('a');
    jest.advanceTimersByTime(1000);
    expect(worker.started).toEqual(['a']);
  });

  it('keeps keys while it is paused', () => {
    const worker = new Worker();
    const queue = new WorkQueue(worker.work, ignore, { paused: true });
    queue.add('a');
    expect(worker.started).toEqual([]);
    queue.resume();
    expect(worker.started).toEqual(['a']);
  });

  it('when it is closed, waits for what is worked on and starts nothing more, late keys included', async () => {
    const worker = new Worker();
    const queue = new WorkQueue(worker.work, ignore, { maxActive: 1 });
    for (const key of ['a', 'b']) queue.add(key);
    queue.addAfter('later', 10);
    let isClosed = false;
    const closing = queue.close().then(() => (isClosed = true));
    await settle();
    expect(isClosed).toBe(false);
    await worker.end('a');
    await closing;
    queue.add('c');
    jest.advanceTimersByTime(60_000);
    expect(worker.started).toEqual(['a']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('tells of each key how long it waited and was worked on', async () => {
    const worker = new Worker();
    const metrics = { added: jest.fn(), retried: jest.fn(), taken: jest.fn(), done: jest.fn() } satisfies QueueMetrics;
    const queue = new WorkQueue(worker.work, ignore, { maxActive: 1, metrics: () => metrics });
    for (const key of ['a', 'b']) queue.add(key);
    jest.advanceTimersByTime(50);
    await worker.end('a');
    expect(metrics.added).toHaveBeenCalledTimes(2);
    expect(metrics.taken.mock.calls).toEqual([[0], [50]]);
    expect(metrics.done.mock.calls).toEqual([[50]]);
    expect([...queue.activeSince()]).toHaveLength(1);
    await worker.fail('b');
    expect(metrics.retried).toHaveBeenCalledTimes(1);
    await queue.close();
  });
});
