import { mostBegunInATurn } from '../../test/support/most-begun-in-a-turn';
import {
  context,
  patching,
  refusal,
  RegistryFixture,
  scope,
  thing,
  thingKind,
} from '../../test/support/registry-fixture';
import type { KubeObject } from '../api/object';
import { startRegistryCache } from '../storage/cache/registry-cache';
import type { Revision } from '../storage/store';
import type { ResourceRegistry } from './resource-registry';
import type { Scope, Selection, WatchItem, WatchOptions } from './types';

let fixture: RegistryFixture;
let things: ResourceRegistry;
let count = 0;

beforeAll(async () => {
  fixture = await RegistryFixture.open();
});
afterAll(() => fixture.close());
beforeEach(() => {
  things = fixture.registry(thingKind({ resource: `things${count++}` }));
});

type ObjectItem = Exclude<WatchItem, { type: 'BOOKMARK' }>;

const label = (value: string) =>
  patching((current) => ({ ...current, metadata: { ...current.metadata, labels: { app: value } } }));
const labelled = (value: string): Selection => ({
  matches: ({ object }) => object.metadata.labels?.app === value,
});
const shown = (item: WatchItem): readonly unknown[] =>
  item.type === 'BOOKMARK'
    ? [item.type, item.revision, item.initialEventsEnd]
    : [item.type, item.entry.name, item.entry.object.metadata.labels?.app];

async function firstBatch(options: WatchOptions): Promise<readonly WatchItem[]> {
  const stop = new AbortController();
  let first: readonly WatchItem[] = [];
  await things.watch(scope, options, stop.signal).run((items) => {
    first = items;
    stop.abort();
  });
  return first;
}

/** The first events of a watch, after `write` has run beside it. */
async function watch(
  options: Partial<WatchOptions>,
  wanted: number,
  {
    write,
    where = scope,
    registry = things,
  }: { write?: () => Promise<unknown>; where?: Scope; registry?: ResourceRegistry } = {},
): Promise<readonly (readonly unknown[])[]> {
  const stop = new AbortController();
  const seen: (readonly unknown[])[] = [];
  const events = registry.watch(where, { allowWatchBookmarks: false, ...options }, stop.signal);
  const writing = write?.();
  await events.run((items) => {
    seen.push(...items.map(shown));
    if (seen.length >= wanted) stop.abort();
  });
  await writing;
  return seen;
}

const create = async (name: string, where: Scope = scope): Promise<Revision> =>
  (await things.create(where, thing(name), {}, context)).entry.revision;

describe('a watch', () => {
  it.each([undefined, '0'])('from %j begins with what is there', async (resourceVersion) => {
    await create('a');
    await create('b');
    const options = resourceVersion === undefined ? {} : { resourceVersion };
    expect(await watch(options, 3, { write: () => create('c') })).toEqual([
      ['ADDED', 'a', undefined],
      ['ADDED', 'b', undefined],
      ['ADDED', 'c', undefined],
    ]);
  });

  it('of what is there begins with few others in a turn of the loop, where many begin at once', async () => {
    for (const name of ['a', 'b', 'c']) await create(name);
    const most = await mostBegunInATurn(async (matches) => {
      expect(await watch({ selection: { matches } }, 3)).toHaveLength(3);
    });
    expect(most).toBeLessThanOrEqual(2);
  });

  it('from a version brings all that happened after it, in order', async () => {
    const resourceVersion = String(await create('a'));
    await things.update(scope, 'a', label('x'), context);
    await create('b');
    await things.delete(scope, 'a', {}, {}, context);
    expect(await watch({ resourceVersion }, 3)).toEqual([
      ['MODIFIED', 'a', 'x'],
      ['ADDED', 'b', undefined],
      ['DELETED', 'a', 'x'],
    ]);
  });

  it('sees only its namespace, or all of them', async () => {
    const resourceVersion = String(await create('a'));
    await create('other', { namespace: 'n2' });
    await create('b');
    expect(await watch({ resourceVersion }, 1)).toEqual([['ADDED', 'b', undefined]]);
    expect(await watch({ resourceVersion }, 2, { where: { namespace: '' } })).toEqual([
      ['ADDED', 'other', undefined],
      ['ADDED', 'b', undefined],
    ]);
  });

  it('of a name sees one object', async () => {
    await create('a');
    await create('b');
    const selection: Selection = { name: 'b', matches: ({ name }) => name === 'b' };
    const write = async (): Promise<void> => {
      await create('c');
      await things.delete(scope, 'b', {}, {}, context);
    };
    expect(await watch({ selection }, 2, { write })).toEqual([
      ['ADDED', 'b', undefined],
      ['DELETED', 'b', undefined],
    ]);
  });

  it('reports what enters a selector as added and what leaves it as deleted, as it was, at the new version', async () => {
    const resourceVersion = String(await create('o'));
    const versions: string[] = [];
    for (const value of ['a', 'b', 'a', 'a2']) {
      versions.push(String((await things.update(scope, 'o', label(value), context)).entry.revision));
    }
    expect(await watch({ resourceVersion, selection: labelled('a') }, 4)).toEqual([
      ['ADDED', 'o', 'a'],
      ['DELETED', 'o', 'a'],
      ['ADDED', 'o', 'a'],
      ['DELETED', 'o', 'a'],
    ]);
    const stop = new AbortController();
    const selection = labelled('a');
    await things.watch(scope, { resourceVersion, selection, allowWatchBookmarks: false }, stop.signal).run((items) => {
      const left = items.find(({ type }) => type === 'DELETED') as ObjectItem | undefined;
      if (left === undefined) return;
      const written = JSON.parse(`{${left.entry.body.toString()}`) as KubeObject;
      expect(written.metadata).toMatchObject({ resourceVersion: versions[1], labels: { app: 'a' } });
      stop.abort();
    });
    expect(stop.signal.aborted).toBe(true);
  });

  it('reports a deletion with its own version', async () => {
    const before = await create('gone');
    const { entry } = await things.delete(scope, 'gone', {}, {}, context);
    const stop = new AbortController();
    const options: WatchOptions = { resourceVersion: String(before), allowWatchBookmarks: false };
    await things.watch(scope, options, stop.signal).run(([item]) => {
      expect(item).toMatchObject({ type: 'DELETED', entry: { revision: entry.revision } });
      stop.abort();
    });
    expect(stop.signal.aborted).toBe(true);
  });

  it('of a malformed version is refused at once', () => {
    expect(() => things.watch(scope, { resourceVersion: 'x', allowWatchBookmarks: false }, context.signal)).toThrow(
      'invalid resource version',
    );
  });

  it('that begins before what is known ends with 410', async () => {
    const own = await RegistryFixture.open();
    const writer = own.registry(thingKind());
    await writer.create(scope, thing('a'), {}, context);
    const { entry } = await writer.create(scope, thing('b'), {}, context);
    await own.store.compact(entry.revision);
    // A replica that has just started knows no history of its own.
    const cache = await startRegistryCache(own.store, { prefix: '/registry/' });
    const registry = own.registry(thingKind(), { cache });
    expect(await refusal(watch({ resourceVersion: '1' }, 1, { registry }))).toMatchObject({
      code: 410,
      reason: 'Expired',
      message: `too old resource version: 1 (${entry.revision})`,
    });
    await cache.close();
    await own.close();
  });
});

describe('initial events', () => {
  it('end with a marked bookmark', async () => {
    await create('a');
    const revision = await create('b');
    const options: Partial<WatchOptions> = {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
    };
    const expected = [
      ['ADDED', 'a', undefined],
      ['ADDED', 'b', undefined],
      ['BOOKMARK', expect.any(Number), true],
      ['ADDED', 'c', undefined],
    ];
    expect(await watch({ ...options, resourceVersion: String(revision) }, 4, { write: () => create('c') })).toEqual(
      expected,
    );
  });

  it('are left out when the client says so', async () => {
    await create('a');
    const first = firstBatch({ sendInitialEvents: false, allowWatchBookmarks: false });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await create('b');
    expect((await first).map(shown)).toEqual([['ADDED', 'b', undefined]]);
  });

  it('of a version that does not come are refused', async () => {
    const options: Partial<WatchOptions> = { sendInitialEvents: true, resourceVersion: '9000000000' };
    const waiting = jest.spyOn(fixture.cache, 'waitFor').mockResolvedValue(false);
    expect((await refusal(watch(options, 1))).code).toBe(504);
    waiting.mockRestore();
  });
});

describe('bookmarks', () => {
  const quiet: Selection = { matches: () => false };

  it('come two seconds before the end, with a version that other writes have moved on', async () => {
    const resourceVersion = String(await create('a'));
    const options = { resourceVersion, selection: quiet, allowWatchBookmarks: true, timeoutMs: 2_100 };
    const seen = await watch(options, 1, { write: () => create('b') });
    expect(seen).toEqual([['BOOKMARK', expect.any(Number), false]]);
    expect(seen[0]?.[1]).toBeGreaterThan(Number(resourceVersion));
  });

  it('do not come when the watch is too short, nor unasked, nor for events', async () => {
    const uncached = fixture.registry(thingKind({ resource: 'uncached', watchCache: false }));
    const resourceVersion = String(await create('a'));
    const cases: readonly (readonly [ResourceRegistry, Partial<WatchOptions>])[] = [
      [things, { allowWatchBookmarks: true, timeoutMs: 1_000 }],
      [things, { allowWatchBookmarks: false, timeoutMs: 2_050 }],
      [uncached, { allowWatchBookmarks: true, timeoutMs: 2_050 }],
    ];
    await create('b');
    await Promise.all(
      cases.map(async ([registry, options]) => {
        const stop = new AbortController();
        setTimeout(() => stop.abort(), 200);
        const all = { allowWatchBookmarks: false, resourceVersion, selection: quiet, ...options };
        await registry.watch(scope, all, stop.signal).run((items) => expect(items).toEqual([]));
      }),
    );
  });

  it('wait until the client has read what was sent before', async () => {
    const resourceVersion = String(await create('a'));
    const stop = new AbortController();
    const options = { resourceVersion, allowWatchBookmarks: true, timeoutMs: 2_100 };
    const seen: string[] = [];
    let isReading = false;
    const watching = things.watch(scope, options, stop.signal).run(async (items) => {
      seen.push(...items.map(({ type }) => type));
      if (isReading) return stop.abort();
      await new Promise((resolve) => setTimeout(resolve, 200));
      isReading = true;
    });
    await create('b');
    await create('quiet', { namespace: 'elsewhere' });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(seen).toEqual(['ADDED']);
    await watching;
    expect(seen).toEqual(['ADDED', 'BOOKMARK']);
  });

  it('come about once a minute', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    try {
      const resourceVersion = String(await create('a'));
      await create('b');
      const next = firstBatch({ resourceVersion, selection: quiet, allowWatchBookmarks: true });
      await new Promise((resolve) => setImmediate(resolve));
      await jest.advanceTimersByTimeAsync(60_000);
      expect((await next).map(shown)).toEqual([['BOOKMARK', expect.any(Number), false]]);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('a watch whose selection takes long', () => {
  const none = { allowWatchBookmarks: false, resourceVersion: '0' };
  const long = (matches: Selection['matches']): WatchOptions => ({ ...none, selection: { matches, isLong: true } });

  it('is told the same, in the same order', async () => {
    const resourceVersion = String(await create('o'));
    for (const value of ['a', 'b', 'a', 'a2']) await things.update(scope, 'o', label(value), context);
    const selection = { ...labelled('a'), isLong: true };
    expect(await watch({ resourceVersion, selection }, 4)).toEqual(
      await watch({ resourceVersion, selection: labelled('a') }, 4),
    );
  });

  it('looks through its events in a turn of its own, however many there are', async () => {
    const stop = new AbortController();
    const order: string[] = [];
    const matches = (): boolean => order.push('match') > 0;
    let told = 0;
    const WATCHES = 20;
    const all = Array.from({ length: WATCHES }, () =>
      things.watch(scope, long(matches), stop.signal).run(() => {
        told += 1;
      }),
    );
    await create('first');
    while (told < WATCHES) await new Promise((resolve) => setImmediate(resolve));
    order.length = 0;
    await create('second');
    while (told < 2 * WATCHES) {
      order.push('|');
      await new Promise((resolve) => setImmediate(resolve));
    }
    stop.abort();
    await Promise.all(all);
    const inOneTurn = order
      .join('')
      .split('|')
      .map((part) => part.length / 'match'.length);
    expect(inOneTurn.reduce((sum, matched) => sum + matched, 0)).toBe(WATCHES);
    expect(Math.max(...inOneTurn)).toBeLessThan(5);
  });
});
