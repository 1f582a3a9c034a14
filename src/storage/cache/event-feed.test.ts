import { setImmediate as nextTurn } from 'node:timers/promises';
import { CompactedError, type Revision } from '../store';
import { SlowWatcherError, type CacheBatch, type CacheEntry, type CacheEvent, type WatchInterest } from './cache';
import { EventFeed } from './event-feed';
import { LogWatch } from './log-watch';

const MANY = 50;
const FLOOR = 1 as Revision;
/** How far memory is, other resources' events included. */
const REACHED = 50 as Revision;

interface Reader {
  readonly watch: LogWatch;
  /** What it has got, batch by batch. */
  readonly batches: CacheBatch[];
  readonly ending: Promise<unknown>;
  readonly leave: () => void;
}

function batchOf(...revisions: readonly number[]): CacheBatch {
  return batchAbout('/registry/things/a/one', ...revisions);
}

function batchAbout(key: string, ...revisions: readonly number[]): CacheBatch {
  return sizedBatch(key, 0, revisions);
}

function sizedBatch(key: string, size: number, revisions: readonly number[]): CacheBatch {
  const events = revisions.map((revision): CacheEvent => {
    const entry = { key, body: Buffer.alloc(0), size } as CacheEntry;
    return { type: 'put', revision: revision as Revision, entry, previous: undefined };
  });
  return { events, revision: revisions.at(-1) as Revision };
}

function revisionsOf(batches: readonly CacheBatch[]): number[][] {
  return batches.map(({ events }) => events.map(({ revision }) => revision));
}

/** Lets readers take what they were told of and ask for more. */
async function turn(): Promise<void> {
  for (let step = 0; step < 20; step++) await Promise.resolve();
}

function watchOf(
  feed: EventFeed,
  after: Revision,
  signal: AbortSignal,
  maxEventsBehind = 1000,
  interest?: WatchInterest,
): LogWatch {
  const resource = {
    feed,
    reached: REACHED,
    storeEvents: () => {
      throw new Error('the log reaches back far enough');
    },
    needProgress: () => () => undefined,
    catchingUp: new Set<never>(),
  };
  return new LogWatch(resource, after, signal, maxEventsBehind, interest);
}

async function readAll(watch: LogWatch, batches: CacheBatch[]): Promise<void> {
  for await (const batch of watch) batches.push(batch);
}

function read(feed: EventFeed, after = FLOOR, interest?: WatchInterest, maxEventsBehind?: number): Reader {
  const controller = new AbortController();
  const watch = watchOf(feed, after, controller.signal, maxEventsBehind, interest);
  const batches: CacheBatch[] = [];
  const ending = readAll(watch, batches).catch((error: unknown) => error);
  return { watch, batches, ending, leave: () => controller.abort() };
}

async function feedWith(count: number): Promise<{ feed: EventFeed; readers: readonly Reader[] }> {
  const feed = new EventFeed(FLOOR);
  const readers = Array.from({ length: count }, () => read(feed));
  await turn();
  expect(feed.readers.size).toBe(count);
  return { feed, readers };
}

/** The first batch is delivered at once, and all wait for the next. */
async function publishFirst(feed: EventFeed): Promise<void> {
  const count = feed.readers.size;
  feed.publish(batchOf(2), 0);
  await deliveryEnds();
  expect(feed.readers.size).toBe(count);
}

/** Gives the turns of the loop that come between many readers; no time passes. */
async function deliveryEnds(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await nextTurn();
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
});
afterEach(async () => {
  await deliveryEnds();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

describe('a feed with few readers', () => {
  it('tells them of every batch at once', async () => {
    const { feed, readers } = await feedWith(9);
    for (const revision of [2, 3, 4]) {
      feed.publish(batchOf(revision), 0);
      expect(jest.getTimerCount()).toBe(0);
      await turn();
    }
    for (const { batches } of readers) expect(revisionsOf(batches)).toEqual([[2], [3], [4]]);
  });
});

describe('a feed with many readers', () => {
  it('tells them of the first batch at once, and of those that follow closely after a pause, as one', async () => {
    const { feed, readers } = await feedWith(MANY);
    await publishFirst(feed);
    for (const { batches } of readers) expect(revisionsOf(batches)).toEqual([[2]]);
    feed.publish(batchOf(3), 0);
    feed.publish(batchOf(4, 5), 0);
    await turn();
    for (const { batches } of readers) expect(batches).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(5);
    const joined = readers[0]?.batches[1];
    for (const { batches } of readers) {
      expect(revisionsOf(batches)).toEqual([[2], [3, 4, 5]]);
      expect(batches[1]).toBe(joined);
    }
    expect(joined?.revision).toBe(5);
  });

  it('joins nothing where one batch came in the pause', async () => {
    const { feed, readers } = await feedWith(MANY);
    await publishFirst(feed);
    const second = batchOf(3);
    feed.publish(second, 0);
    await jest.advanceTimersByTimeAsync(5);
    for (const { batches } of readers) expect(batches[1]).toBe(second);
  });

  it('tells them at once again when the pause has passed anyway', async () => {
    const { feed, readers } = await feedWith(MANY);
    await publishFirst(feed);
    await jest.advanceTimersByTimeAsync(5);
    feed.publish(batchOf(3), 0);
    expect(jest.getTimerCount()).toBe(0);
    await turn();
    for (const { batches } of readers) expect(revisionsOf(batches)).toEqual([[2], [3]]);
  });

  it('lets others have their turn between some hundreds of them', async () => {
    const { feed, readers } = await feedWith(600);
    const told = (): number => readers.filter(({ batches }) => batches.length > 0).length;
    feed.publish(batchOf(2), 0);
    const counts: number[] = [];
    for (let turns = 0; turns < 3; turns++) {
      await turn();
      counts.push(told());
      await nextTurn();
    }
    expect(counts).toEqual([250, 500, 600]);
  });

  it.each([
    [10_000, [26, 52, 78]],
    [1_000_000, [1, 2, 3]],
  ])('lets others have their turn sooner when its events have %i bytes', async (size, expected) => {
    const { feed, readers } = await feedWith(MANY * 2);
    feed.publish(sizedBatch('/registry/things/a/one', size, [2]), 0);
    const counts: number[] = [];
    for (let turns = 0; turns < 3; turns++) {
      await turn();
      counts.push(readers.filter(({ batches }) => batches.length > 0).length);
      await nextTurn();
    }
    expect(counts).toEqual(expected);
    feed.finish(undefined);
  });

  it('counts one event for those that want to hear of one object, however many are delivered', async () => {
    const feed = new EventFeed(FLOOR);
    const key = '/registry/things/a/one';
    const readers = Array.from({ length: MANY * 2 }, () => read(feed, FLOOR, { by: 'key', key }));
    await turn();
    feed.publish(sizedBatch(key, 10_000, [2, 3, 4, 5]), 0);
    await turn();
    expect(readers.filter(({ batches }) => batches.length > 0)).toHaveLength(26);
    feed.finish(undefined);
  });

  it('keeps what comes during a delivery for the next, for all of them', async () => {
    const { feed, readers } = await feedWith(600);
    feed.publish(batchOf(2), 0);
    await turn();
    feed.publish(batchOf(3), 0);
    feed.publish(batchOf(4), 0);
    await deliveryEnds();
    for (const { batches } of readers) expect(revisionsOf(batches)).toEqual([[2]]);
    await jest.advanceTimersByTimeAsync(25);
    await deliveryEnds();
    const joined = readers[0]?.batches[1];
    for (const { batches } of readers) expect(batches[1]).toBe(joined);
    expect(revisionsOf([joined as CacheBatch])).toEqual([[3, 4]]);
  });

  it('ends a delivery under way when it finishes', async () => {
    const { feed, readers } = await feedWith(600);
    feed.publish(batchOf(2), 0);
    feed.finish(undefined);
    await Promise.all(readers.map(({ ending }) => ending));
    await deliveryEnds();
    expect(readers.filter(({ batches }) => batches.length > 0)).toHaveLength(250);
  });

  it('never pauses for longer than 25 ms, however many there are', async () => {
    const { feed, readers } = await feedWith(1000);
    await publishFirst(feed);
    feed.publish(batchOf(3), 0);
    await jest.advanceTimersByTimeAsync(24);
    expect(readers[0]?.batches).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    await deliveryEnds();
    for (const { batches } of readers) expect(revisionsOf(batches)).toEqual([[2], [3]]);
  });

  it('lets a reader that comes in the pause wait with the others, nothing missed and nothing twice', async () => {
    const { feed, readers } = await feedWith(MANY);
    await publishFirst(feed);
    feed.publish(batchOf(3), 0);
    const late = read(feed, 3 as Revision);
    const early = read(feed);
    await turn();
    feed.publish(batchOf(4), 0);
    feed.publish(batchOf(5), 0);
    await jest.advanceTimersByTimeAsync(5);
    await deliveryEnds();
    feed.publish(batchOf(6), 0);
    await jest.advanceTimersByTimeAsync(10);
    for (const { batches } of readers) expect(revisionsOf(batches)).toEqual([[2], [3, 4, 5], [6]]);
    expect(revisionsOf(late.batches)).toEqual([[4], [5], [6]]);
    expect(revisionsOf(early.batches)).toEqual([[2], [3, 4, 5], [6]]);
  });

  it('gives a reader whose revision lies within the joined batches only what is new to it', async () => {
    const { feed } = await feedWith(MANY);
    await publishFirst(feed);
    feed.publish(batchOf(3, 4), 0);
    feed.publish(batchOf(5), 0);
    await jest.advanceTimersByTimeAsync(5);
    const reader = read(feed, 3 as Revision);
    await turn();
    expect(revisionsOf(reader.batches).flat()).toEqual([4, 5]);
  });

  it('says of no reader that it has got what is still to be delivered', async () => {
    const { feed, readers } = await feedWith(MANY);
    await publishFirst(feed);
    feed.publish(batchOf(3), 0);
    await turn();
    expect(readers[0]?.watch.progress).toBe(2);
    await jest.advanceTimersByTimeAsync(5);
    expect(readers[0]?.watch.progress).toBe(REACHED);
  });

  it('delivers to those that stay when others leave in the pause', async () => {
    const { feed, readers } = await feedWith(MANY);
    await publishFirst(feed);
    feed.publish(batchOf(3), 0);
    for (const { leave } of readers.slice(1)) leave();
    await jest.advanceTimersByTimeAsync(5);
    expect(revisionsOf(readers[0]?.batches ?? [])).toEqual([[2], [3]]);
    expect(revisionsOf(readers[1]?.batches ?? [])).toEqual([[2]]);
    expect(feed.readers.size).toBe(1);
  });

  it('ends readers whose place the log has dropped in the pause', async () => {
    const { feed, readers } = await feedWith(MANY);
    await publishFirst(feed);
    feed.publish(batchOf(3), 0);
    feed.publish(batchOf(4), 0);
    feed.log.dropOldest();
    feed.log.dropOldest();
    await jest.advanceTimersByTimeAsync(5);
    for (const { ending } of readers) expect(await ending).toBeInstanceOf(SlowWatcherError);
    expect(feed.readers.size).toBe(0);
  });

  it.each([
    ['without a gap', undefined],
    ['with a gap', new CompactedError(9 as Revision)],
  ])('cancels the delivery to come when it finishes %s', async (_case, gap) => {
    const { feed, readers } = await feedWith(MANY);
    await publishFirst(feed);
    feed.publish(batchOf(3), 0);
    expect(jest.getTimerCount()).toBe(1);
    feed.finish(gap);
    expect(jest.getTimerCount()).toBe(0);
    for (const { batches, ending } of readers) {
      expect(await ending).toBe(gap);
      expect(revisionsOf(batches)).toEqual([[2]]);
    }
  });
});

describe('a reader of one object', () => {
  const one: WatchInterest = { by: 'key', key: '/registry/things/a/one' };
  const other = '/registry/things/a/other';

  it('is not woken by what happens to others', async () => {
    const feed = new EventFeed(FLOOR);
    const reader = read(feed, FLOOR, one);
    await turn();
    feed.publish(batchAbout(other, 2, 3), 0);
    await turn();
    expect(reader.batches).toEqual([]);
    feed.publish(batchOf(4), 0);
    await turn();
    expect(revisionsOf(reader.batches)).toEqual([[4]]);
    expect(feed.readers.size).toBe(1);
    reader.leave();
    await reader.ending;
    expect(feed.readers.size).toBe(0);
  });

  it('has come as far as the others, however much of what does not concern it is no longer in the log', async () => {
    const feed = new EventFeed(FLOOR);
    const reader = read(feed, FLOOR, one, 5);
    await turn();
    for (let revision = 2; revision < 40; revision++) {
      feed.publish(batchAbout(other, revision), 0);
      feed.log.dropOldest();
      await turn();
      expect(reader.watch.isTooFarBehind).toBe(false);
      expect(reader.watch.progress).toBe(REACHED);
    }
    feed.publish(batchOf(40), 0);
    await turn();
    expect(revisionsOf(reader.batches)).toEqual([[40]]);
  });

  it('has got nothing of a delivery that has not come to it yet', async () => {
    const { feed } = await feedWith(300);
    const reader = read(feed, FLOOR, one);
    await turn();
    feed.publish(batchOf(2), 0);
    await turn();
    expect(reader.batches).toEqual([]);
    expect(reader.watch.progress).toBe(FLOOR);
    await deliveryEnds();
    expect(revisionsOf(reader.batches)).toEqual([[2]]);
    expect(reader.watch.progress).toBe(REACHED);
  });

  it('ends when nobody knows any more whether it would have been concerned', async () => {
    const { feed } = await feedWith(MANY);
    const reader = read(feed, FLOOR, { by: 'key', key: '/registry/things/a/third' });
    await turn();
    await publishFirst(feed);
    feed.publish(batchAbout(other, 3), 0);
    feed.publish(batchAbout(other, 4), 0);
    feed.log.dropOldest();
    feed.log.dropOldest();
    await jest.advanceTimersByTimeAsync(10);
    expect(await reader.ending).toBeInstanceOf(SlowWatcherError);
  });

  it('goes on behind a gap that begins after what it has been told of or need not be', async () => {
    const ended = new EventFeed(FLOOR);
    const storeEvents = jest.fn(async function* () {
      yield batchOf(12);
    });
    const resource = {
      feed: ended,
      reached: REACHED,
      storeEvents,
      needProgress: () => () => undefined,
      catchingUp: new Set<never>(),
    };
    const batches: CacheBatch[] = [];
    const reading = readAll(new LogWatch(resource, FLOOR, new AbortController().signal, 1000, one), batches);
    await turn();
    ended.publish(batchAbout(other, 9), 0);
    await turn();
    resource.feed = new EventFeed(20 as Revision);
    ended.finish(new CompactedError(10 as Revision));
    await reading;
    expect(storeEvents).toHaveBeenCalledWith(9, expect.anything());
    expect(revisionsOf(batches)).toEqual([[12]]);
  });
});
