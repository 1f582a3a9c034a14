import { FaultyStore } from '../../../test/support/faulty-store';
import {
  decoderOf,
  openTemporaryStore,
  take,
  valueOf,
  write,
  type TemporaryStore,
} from '../../../test/support/cache-fixture';
import type { KubeObject } from '../../api/object';
import { CompactedError, type Revision } from '../store';
import { SlowWatcherError, type CacheBatch, type CacheEvent, type RegistryCache, type ResourceCache } from './cache';
import { findInconsistencies } from './consistency';
import type { RegistryCacheOptions } from './cache-options';
import { startRegistryCache } from './registry-cache';

const PODS = '/registry/pods/';

let temporary: TemporaryStore;
let store: FaultyStore;
let open: RegistryCache[];
let stop: AbortController;

beforeEach(async () => {
  temporary = await openTemporaryStore();
  store = new FaultyStore(temporary.store);
  open = [];
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  for (const cache of open) await cache.close();
  await temporary[Symbol.asyncDispose]();
});

async function start(
  options: Partial<RegistryCacheOptions> = {},
): Promise<{ cache: RegistryCache; pods: ResourceCache }> {
  const cache = await startRegistryCache(store, { prefix: '/registry/', freezeObjects: true, ...options });
  open.push(cache);
  return { cache, pods: cache.register('pods', decoderOf('Pod')) };
}

function putPod(name: string, metadata: object = {}): Promise<Revision> {
  return write(store, `${PODS}${name}`, valueOf('Pod', { name, ...metadata }));
}

async function reaches(cache: RegistryCache, revision: Revision): Promise<void> {
  expect(await cache.waitFor(revision, 5_000)).toBe(true);
}

function summary(events: readonly CacheEvent[]): string[] {
  return events.map(({ type, entry, previous, revision }) => {
    expect(entry.revision).toBe(revision);
    expect(entry.object.metadata.resourceVersion).toBe(String(revision));
    return `${type} ${entry.name}@${revision} after ${previous?.revision ?? 'nothing'}`;
  });
}

async function nextEvents(reader: AsyncIterator<CacheBatch, unknown>): Promise<readonly CacheEvent[]> {
  const step = await reader.next();
  return step.done === true ? [] : step.value.events;
}

function names(pods: ResourceCache): string[] {
  return [...pods.snapshot().entries(PODS)].map((entry) => `${entry.name}@${entry.revision}`);
}

describe('loading', () => {
  it('shows the whole registry at one revision, page by page', async () => {
    const revisions = [];
    for (let i = 0; i < 10; i++) revisions.push(await putPod(`p${i}`));
    const last = await write(store, '/registry/configmaps/a/b', valueOf('ConfigMap', { name: 'b' }));
    const loaded = jest.fn();
    const { cache, pods } = await start({ pageSize: 3, observer: { loaded } });
    expect(cache.revision).toBe(last);
    expect(names(pods)).toEqual(revisions.map((revision, i) => `p${i}@${revision}`));
    expect(pods.snapshot()).toMatchObject({ revision: last });
    expect(loaded).toHaveBeenCalledWith(11, expect.any(Number));
  });

  it('knows resources beforehand, or learns of them later, also after changes', async () => {
    const key = '/registry/example.com/widgets/ns/one';
    await write(store, key, valueOf('Widget', { name: 'one' }, {}, 'example.com/v1'));
    const { cache } = await start({ resources: new Map([['services/specs', decoderOf('Service')]]) });
    await write(
      store,
      '/registry/example.com/widgets/ns/two',
      valueOf('Widget', { name: 'two' }, {}, 'example.com/v1'),
    );
    await write(store, key, undefined);
    const last = await write(store, '/registry/services/specs/ns/s', valueOf('Service', { name: 's' }));
    await reaches(cache, last);
    const widgets = cache.register('example.com/widgets', decoderOf('Widget', 'example.com/v1'));
    expect([...widgets.snapshot().entries('/registry/example.com/widgets/')]).toMatchObject([
      { namespace: 'ns', name: 'two' },
    ]);
    const services = cache.register('services/specs', decoderOf('Service'));
    expect(services.snapshot().get('/registry/services/specs/ns/s')?.name).toBe('s');
    expect(() => cache.register('services', decoderOf('Service'))).toThrow('overlaps');
  });

  it('tries again while the store fails, until told to stop', async () => {
    store.listErrors.push(new Error('unreachable'));
    const warn = jest.fn();
    await start({ logger: { info: jest.fn(), warn } });
    expect(warn).toHaveBeenCalledTimes(1);
    store.listErrors.push(...Array.from({ length: 100 }, () => new Error('unreachable')));
    const starting = startRegistryCache(store, { prefix: '/registry/', signal: AbortSignal.timeout(80) });
    await expect(starting).rejects.toThrow('timeout');
  });

  it('leaves out what it cannot understand, in lists and events', async () => {
    const garbage = Buffer.from('garbage');
    await write(store, `${PODS}bad`, garbage);
    const decodeFailed = jest.fn();
    const { cache, pods } = await start({ observer: { decodeFailed } });
    expect(names(pods)).toEqual([]);
    const before = cache.revision;
    const created = await putPod('a');
    const events = take(pods.watch(before, stop.signal), 4);
    const broken = await write(store, `${PODS}a`, garbage);
    await write(store, `${PODS}a`, undefined);
    const mended = await putPod('bad');
    const again = await putPod('bad');
    expect(summary(await events)).toEqual([
      `put a@${created} after nothing`,
      `delete a@${broken} after ${created}`,
      `put bad@${mended} after nothing`,
      `put bad@${again} after ${mended}`,
    ]);
    expect(decodeFailed.mock.calls).toEqual([['pods'], ['pods']]);
  });
});

describe('what is encrypted and cannot be opened', () => {
  const sealed = Buffer.from('k8s:enc:aesgcm:v1:lost:...');
  const problem = (name: string) =>
    expect.objectContaining({
      message: `unable to transform key "${PODS}${name}": identity transformer tried to read encrypted data`,
    }) as Error;

  it('is told of, while watches end instead of telling that it was deleted', async () => {
    const { cache, pods } = await start();
    const created = await putPod('a');
    await reaches(cache, created);
    const watching = take(pods.watch(created, stop.signal), 1);
    const lost = await write(store, `${PODS}a`, sealed);
    await expect(watching).rejects.toThrow(CompactedError);
    expect(pods.get(`${PODS}a`)).toBeUndefined();
    expect(pods.problemOf(`${PODS}a`)).toEqual(problem('a'));
    expect(pods.problemIn(PODS)).toEqual(problem('a'));
    expect(pods.problemOf(`${PODS}b`)).toBeUndefined();
    // Neither from memory nor from the store.
    await expect(take(pods.watch(created, stop.signal), 1)).rejects.toThrow(CompactedError);
    const resumed = take(pods.watch(lost, stop.signal), 1);
    const other = await putPod('b');
    expect(summary(await resumed)).toEqual([`put b@${other} after nothing`]);
  });

  it('ends watches when it is deleted or can be read again, since they may know of it', async () => {
    await write(store, `${PODS}a`, sealed);
    await write(store, `${PODS}b`, sealed);
    const { cache, pods } = await start();
    const deleting = take(pods.watch(cache.revision, stop.signal), 1);
    await write(store, `${PODS}a`, undefined);
    await expect(deleting).rejects.toThrow(CompactedError);
    const mending = take(pods.watch(cache.revision, stop.signal), 1);
    const mended = await putPod('b');
    await expect(mending).rejects.toThrow(CompactedError);
    expect(pods.problemIn(PODS)).toBeUndefined();
    expect(pods.get(`${PODS}b`)?.revision).toBe(mended);
  });

  it('is told of while everything is loaded anew, too', async () => {
    const { cache, pods } = await start();
    await reaches(cache, await write(store, `${PODS}a`, sealed));
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const list = store.list.bind(store);
    const listing = new Promise<void>((begun) => {
      jest.spyOn(store, 'list').mockImplementationOnce(async (...range) => {
        begun();
        await held;
        return list(...range);
      });
    });
    store.breakWatches(new CompactedError(cache.revision));
    await listing;
    expect(pods.problemOf(`${PODS}a`)).toEqual(problem('a'));
    goOn();
    await reaches(cache, await putPod('b'));
    expect(pods.problemOf(`${PODS}a`)).toEqual(problem('a'));
  });

  it('is kept while its resource is not declared', async () => {
    await write(store, `${PODS}a`, sealed);
    const { cache } = await start();
    cache.unregister('pods');
    expect(cache.register('pods', decoderOf('Pod')).problemIn(PODS)).toEqual(problem('a'));
  });
});

describe('a resource', () => {
  it('is the same when registered again, and is decoded anew when its storage version is another', async () => {
    await write(store, '/registry/x.io/things/a', valueOf('Thing', { name: 'a' }, {}, 'x.io/v1'));
    const { cache } = await start();
    const things = cache.register('x.io/things', decoderOf('Thing', 'x.io/v1'));
    const watching = take(things.watch(cache.revision, stop.signal), 1);
    expect(cache.register('x.io/things', decoderOf('Thing', 'x.io/v1'))).toBe(things);
    expect(cache.register('x.io/things', decoderOf('Thing', 'x.io/v2'))).toBe(things);
    expect(await watching).toEqual([]);
    const entry = things.snapshot().get('/registry/x.io/things/a');
    expect(entry?.object).toMatchObject({ apiVersion: 'x.io/v2', metadata: { name: 'a' } });
  });

  it('takes its entries over into another storage version without reading them, where that is enough', async () => {
    await write(store, '/registry/x.io/things/a', valueOf('Thing', { name: 'a' }, { gone: 1 }, 'x.io/v1'));
    const { cache } = await start();
    const things = cache.register('x.io/things', decoderOf('Thing', 'x.io/v1'));
    const next = decoderOf('Thing', 'x.io/v2');
    const decode = jest.fn(next.decode);
    const complete = jest.fn(({ gone: _gone, ...object }: KubeObject) => ({ ...object, late: 'L' }));
    const adopt = jest.fn(() => complete);
    cache.register('x.io/things', { ...next, decode, complete, adopt });
    expect(adopt.mock.calls).toEqual([[{ kind: 'Thing', apiVersion: 'x.io/v1' }]]);
    expect(complete).not.toHaveBeenCalled();
    const entry = things.snapshot().get('/registry/x.io/things/a');
    expect(entry?.object).toMatchObject({ apiVersion: 'x.io/v2', metadata: { name: 'a' }, late: 'L' });
    expect(entry?.object).not.toHaveProperty('gone');
    expect(decode).not.toHaveBeenCalled();
  });

  it('can be forgotten and declared again', async () => {
    const { cache } = await start();
    const first = cache.register('x.io/things', decoderOf('Thing', 'x.io/v1'));
    const revision = await write(store, '/registry/x.io/things/a', valueOf('Thing', { name: 'a' }, {}, 'x.io/v1'));
    await reaches(cache, revision);
    const watching = take(first.watch(cache.revision, stop.signal), 1);
    cache.unregister('x.io/things');
    cache.unregister('x.io/things');
    expect(await watching).toEqual([]);
    expect(await take(first.watch(cache.revision, stop.signal), 1)).toEqual([]);
    const second = cache.register('x.io/things', decoderOf('Thing', 'x.io/v1'));
    expect(second.snapshot().get('/registry/x.io/things/a')).toMatchObject({ revision, name: 'a' });
  });

  it('makes entries of values that were read from the store', async () => {
    const revision = await putPod('a');
    const { cache, pods } = await start();
    const value = await store.get(`${PODS}a`);
    if (value === undefined) throw new Error('not stored');
    expect(cache.toEntry('pods', value)).toBe(pods.snapshot().get(`${PODS}a`));
    const other = cache.toEntry('pods', { ...value, revision: (revision + 1) as Revision });
    expect(other.object.metadata.resourceVersion).toBe(String(revision + 1));
    expect(() => cache.toEntry('pods', { ...value, value: Buffer.from('?'), revision: 9 as Revision })).toThrow(
      SyntaxError,
    );
    expect(() => cache.toEntry('nothing', value)).toThrow('no resource');
  });
});

describe('a resource with many objects', () => {
  const things = '/registry/x.io/things/';
  const v1 = decoderOf('Thing', 'x.io/v1');
  const v2 = decoderOf('Thing', 'x.io/v2');
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const putThing = (name: string, note = ''): Promise<Revision> =>
    write(store, `${things}${name}`, valueOf('Thing', { name }, { note }, 'x.io/v1'));
  const state = (cached: ResourceCache): readonly string[] =>
    [...cached.snapshot().entries(things)]
      .filter(({ name }) => !name.startsWith('t5-'))
      .map(({ name, object }) => `${name} ${object.apiVersion} ${String(object['note'])}`);

  /** From now on every look at the clock finds that the turn is over: each object takes a turn of its own. */
  function shortTurns(): void {
    let now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 10));
  }
  afterEach(() => jest.restoreAllMocks());
  beforeEach(async () => {
    const names = Array.from({ length: 10 }, (_, index) => `t${index}`);
    // Between the first and the last, so that either are written while these are on their way.
    const others = Array.from({ length: 200 }, (_, index) => `t5-${index}`);
    await Promise.all([...names, ...others].map((name) => putThing(name)));
  });

  /** Writes of which memory hears when that is called. */
  async function changes(cache: RegistryCache): Promise<() => Promise<void>> {
    const release = store.holdWatches();
    await putThing('t0', 'changed');
    await putThing('t9', 'changed');
    await write(store, `${things}t1`, undefined);
    await write(store, `${things}t8`, undefined);
    const last = await putThing('t91', 'new');
    return async () => {
      release();
      await reaches(cache, last);
    };
  }
  const expected = (version: string): readonly string[] => [
    `t0 ${version} changed`,
    ...[2, 3, 4, 5, 6, 7].map((index) => `t${index} ${version} `),
    `t9 ${version} changed`,
    `t91 ${version} new`,
  ];

  it('is taken in turn by turn, with what happens meanwhile', async () => {
    const { cache } = await start();
    const happen = await changes(cache);
    shortTurns();
    const prepared = cache.prepare('x.io/things', v1);
    expect(prepared).toBeInstanceOf(Promise);
    for (let turns = 0; turns < 2; turns++) await turn();
    await happen();
    await prepared;
    const cached = cache.register('x.io/things', v1);
    expect(state(cached)).toEqual(expected('x.io/v1'));
    expect(await findInconsistencies(store, cached, things)).toEqual([]);
  });

  it('is decoded anew turn by turn, and readers see what was before until all is done', async () => {
    const { cache } = await start();
    const cached = cache.register('x.io/things', v1);
    const watching = take(cached.watch(cache.revision, stop.signal), 100);
    const happen = await changes(cache);
    shortTurns();
    const prepared = cache.prepare('x.io/things', v2);
    for (let turns = 0; turns < 2; turns++) await turn();
    await happen();
    expect(state(cached)).toEqual(expected('x.io/v1'));
    await prepared;
    expect(state(cached)).toEqual(expected('x.io/v2'));
    expect(await watching).toHaveLength(5);
    expect(cache.register('x.io/things', v2)).toBe(cached);
    const late = take(cached.watch(cache.revision, stop.signal), 1);
    await putThing('t2', 'late');
    expect((await late).map(({ entry }) => entry.object.apiVersion)).toEqual(['x.io/v2']);
  });

  it('is given back turn by turn, and can be declared again before that has ended', async () => {
    const { cache } = await start();
    cache.register('x.io/things', v1);
    const happen = await changes(cache);
    shortTurns();
    cache.unregister('x.io/things');
    expect(() => cache.toEntry('x.io/things', { key: '', value: Buffer.from(''), revision: 1 as Revision })).toThrow();
    for (let turns = 0; turns < 2; turns++) await turn();
    await happen();
    const again = cache.register('x.io/things', v2);
    expect(state(again)).toEqual(expected('x.io/v2'));
    cache.unregister('x.io/things');
    for (let turns = 0; turns < 300; turns++) await turn();
    await reaches(cache, await putThing('t2', 'later'));
    expect(state(cache.register('x.io/things', v1))[1]).toBe('t2 x.io/v1 later');
  });

  it('may be forgotten while it is taken in or decoded anew', async () => {
    const { cache } = await start();
    shortTurns();
    for (const decoder of [v1, v2]) {
      const prepared = cache.prepare('x.io/things', decoder);
      await turn();
      cache.unregister('x.io/things');
      await prepared;
      expect(cache.register('x.io/things', v1).snapshot().count(things)).toBe(210);
    }
  });

  it('keeps apart in which versions its objects were stored, however often the storage version changes', async () => {
    const { cache } = await start();
    const completedAs = (storedAs: string) => (object: KubeObject) => ({ ...object, note: `from ${storedAs}` });
    const next = (version: string) => ({
      ...decoderOf('Thing', version),
      complete: completedAs(version),
      adopt: ({ apiVersion }: { readonly apiVersion: string }) => completedAs(apiVersion),
    });
    const cached = cache.register('x.io/things', v1);
    cache.register('x.io/things', next('x.io/v2'));
    await reaches(cache, await write(store, `${things}t0`, valueOf('Thing', { name: 't0' }, {}, 'x.io/v2')));
    cache.register('x.io/things', next('x.io/v3'));
    expect(state(cached).slice(0, 2)).toEqual(['t0 x.io/v3 from x.io/v2', 't1 x.io/v3 from x.io/v1']);
    cache.unregister('x.io/things');
    expect(state(cache.register('x.io/things', v1)).slice(0, 2)).toEqual(['t0 x.io/v1 undefined', 't1 x.io/v1 ']);
  });
});

describe('snapshots', () => {
  it('do not change, and give past states back', async () => {
    const { cache, pods } = await start();
    const before = cache.revision;
    const states = [];
    for (let i = 0; i < 5; i++) {
      const revision = await putPod(`p${i % 3}`);
      await reaches(cache, revision);
      states.push({ snapshot: pods.snapshot(), names: names(pods), revision });
    }
    const removed = await write(store, `${PODS}p0`, undefined);
    await reaches(cache, removed);
    for (const state of states) {
      for (const snapshot of [state.snapshot, pods.snapshotAt(state.revision)]) {
        expect([...(snapshot?.entries(PODS) ?? [])].map((entry) => `${entry.name}@${entry.revision}`)).toEqual(
          state.names,
        );
        expect(snapshot?.revision).toBe(state.revision);
        expect(snapshot?.count(PODS)).toBe(state.names.length);
      }
    }
    expect(pods.snapshotAt(before)?.count(PODS)).toBe(0);
    expect(pods.snapshotAt((before - 1) as Revision)).toBeUndefined();
    expect(pods.snapshotAt((removed + 1) as Revision)).toBeUndefined();
  });

  it('are forgotten with their events, however often they are asked for', async () => {
    let nowMs = 0;
    const { cache, pods } = await start({ historyMs: 1000, clock: () => nowMs });
    const asked = await putPod('a');
    await reaches(cache, asked);
    await reaches(cache, await putPod('a'));
    for (nowMs = 0; nowMs <= 1000; nowMs += 500) expect(pods.snapshotAt(asked)?.count(PODS)).toBe(1);
    expect(pods.snapshotAt(asked)).toBeUndefined();
  });

  it('are forgotten when their events are more than may be kept', async () => {
    const { cache, pods } = await start({ historyEvents: 2 });
    const asked = await putPod('a');
    await reaches(cache, asked);
    await reaches(cache, await putPod('a'));
    expect(pods.snapshotAt(asked)?.count(PODS)).toBe(1);
    for (let i = 0; i < 5; i++) await reaches(cache, await putPod('b'));
    expect(pods.snapshotAt(asked)).toBeUndefined();
  });

  it('page from a start key', async () => {
    for (const name of ['a/1', 'a/2', 'b/1', 'b/2', 'b/3']) await putPod(name);
    const { pods } = await start();
    const snapshot = pods.snapshot();
    expect(snapshot.count(`${PODS}b/`)).toBe(3);
    expect([...snapshot.entries(`${PODS}b/`, `${PODS}b/1\0`)].map((entry) => entry.name)).toEqual(['2', '3']);
    expect(snapshot.count(`${PODS}b/`, `${PODS}b/1\0`)).toBe(2);
  });
});

describe('watches', () => {
  it('give each event with what stood there before, and share batches', async () => {
    const { cache, pods } = await start();
    const readers = [1, 2].map(() => pods.watch(cache.revision, stop.signal)[Symbol.asyncIterator]());
    const pending = readers.map((reader) => reader.next());
    const created = await putPod('a', { labels: { color: 'red' } });
    const [first, second] = await Promise.all(pending);
    expect(first?.value).toBe(second?.value);
    const updated = await putPod('a');
    const deleted = await write(store, `${PODS}a`, undefined);
    const events = await take(pods.watch((created - 1) as Revision, stop.signal), 3);
    expect(summary(events)).toEqual([
      `put a@${created} after nothing`,
      `put a@${updated} after ${created}`,
      `delete a@${deleted} after ${updated}`,
    ]);
    expect(events[1]?.previous?.labels).toEqual({ color: 'red' });
  });

  it('start anywhere in the log', async () => {
    const { cache, pods } = await start();
    const from = cache.revision;
    const revisions = await Promise.all(
      Array.from({ length: 20 }, (_, i) => store.create(`${PODS}p${i}`, valueOf('Pod', {}))),
    );
    const sorted = revisions.map((outcome) => (outcome.ok ? outcome.revision : (0 as Revision))).sort((a, b) => a - b);
    await reaches(cache, sorted[19] as Revision);
    for (const after of [from, ...sorted.slice(0, 19)]) {
      const expected = sorted.filter((revision) => revision > after);
      const events = await take(pods.watch(after, stop.signal), expected.length);
      expect(events.map((event) => event.revision)).toEqual(expected);
    }
  });

  it('read older events from the store, then go on in the log', async () => {
    const from = await putPod('before');
    const older = [await putPod('a'), await putPod('a'), await write(store, `${PODS}a`, undefined)];
    const { cache, pods } = await start();
    store.watched.length = 0;
    const watch = pods.watch(from, stop.signal);
    const reader = watch[Symbol.asyncIterator]();
    const events: CacheEvent[] = [];
    while (events.length < 3) events.push(...(await nextEvents(reader)));
    expect(summary(events)).toEqual([
      `put a@${older[0]} after nothing`,
      `put a@${older[1]} after ${older[0]}`,
      `delete a@${older[2]} after ${older[1]}`,
    ]);
    const next = nextEvents(reader);
    const live = await putPod('b');
    expect(summary(await next)).toEqual([`put b@${live} after nothing`]);
    expect(store.watched).toEqual([PODS]);
    const unrelated = await write(store, '/registry/configmaps/a/b', valueOf('ConfigMap', {}));
    await reaches(cache, unrelated);
    const pending = reader.next();
    expect(watch.progress).toBe(unrelated);
    stop.abort();
    expect(await pending).toEqual({ done: true, value: undefined });
  });

  it('cut over from a store that has nothing new to tell', async () => {
    const from = await putPod('a');
    await write(store, '/registry/configmaps/a/b', valueOf('ConfigMap', {}));
    const { cache, pods } = await start();
    const watch = pods.watch(from, stop.signal);
    expect(watch.progress).toBe(from);
    const next = nextEvents(watch[Symbol.asyncIterator]());
    while (watch.progress < cache.revision) await new Promise((resolve) => setTimeout(resolve, 5));
    const live = await putPod('b');
    expect(summary(await next)).toEqual([`put b@${live} after nothing`]);
  });

  it('start ahead of memory and give only what is newer', async () => {
    const { cache, pods } = await start();
    await reaches(cache, await putPod('a'));
    const release = store.holdWatches();
    const skipped = [await putPod('b'), await putPod('c')];
    const wanted = take(pods.watch(skipped[1] as Revision, stop.signal), 1);
    const last = await putPod('d');
    release();
    expect(summary(await wanted)).toEqual([`put d@${last} after nothing`]);
  });

  it('say so when the store has forgotten what they need', async () => {
    const from = await putPod('a');
    await putPod('a');
    await store.compact(await putPod('a'));
    const { pods } = await start();
    await expect(take(pods.watch(from, stop.signal), 1)).rejects.toThrow(CompactedError);
  });

  it('end when they fall too far behind', async () => {
    const { cache, pods } = await start({ maxEventsBehind: 3 });
    const watch = pods.watch(cache.revision, stop.signal);
    const slow = watch[Symbol.asyncIterator]();
    const first = slow.next();
    await putPod('a');
    expect((await first).value?.events).toHaveLength(1);
    for (let i = 0; i < 3; i++) await reaches(cache, await putPod('a'));
    expect(watch.isTooFarBehind).toBe(false);
    await reaches(cache, await putPod('a'));
    expect(watch.isTooFarBehind).toBe(true);
    await expect(slow.next()).rejects.toThrow(SlowWatcherError);
    expect(await slow.next()).toEqual({ done: true, value: undefined });
  });

  it('end when the log has dropped their position', async () => {
    const { cache, pods } = await start({ historyEvents: 2 });
    const watch = pods.watch(cache.revision, stop.signal);
    const slow = watch[Symbol.asyncIterator]();
    const first = slow.next();
    await putPod('a');
    await first;
    expect(watch.isTooFarBehind).toBe(false);
    for (let i = 0; i < 4; i++) await reaches(cache, await putPod('a'));
    expect(watch.isTooFarBehind).toBe(true);
    await expect(slow.next()).rejects.toThrow(SlowWatcherError);
  });

  it('end with their signal and with the cache, waiting or not', async () => {
    const { cache, pods } = await start();
    expect(await take(pods.watch(cache.revision, AbortSignal.abort()), 1)).toEqual([]);
    const waiting = take(pods.watch(cache.revision, stop.signal), 1);
    await cache.close();
    expect(await waiting).toEqual([]);
    expect(await take(pods.watch(cache.revision, stop.signal), 1)).toEqual([]);
  });
});

describe('freshness', () => {
  it('shares asks for the newest revision', async () => {
    const { cache } = await start();
    const revision = await putPod('a');
    store.asks = 0;
    const responses = await Promise.all(Array.from({ length: 100 }, () => cache.currentRevision()));
    expect(new Set(responses)).toEqual(new Set([revision]));
    expect(store.asks).toBe(1);
  });

  it('asks for progress while somebody waits for a revision that has not come', async () => {
    const { cache } = await start();
    const release = store.holdWatches();
    const revision = await putPod('a');
    const waiting = cache.waitFor(revision, 5_000);
    while (store.progressRequests === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    release();
    expect(await waiting).toBe(true);
    const requests = store.progressRequests;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(store.progressRequests).toBe(requests);
  });

  it('reaches revisions of writes elsewhere in the store', async () => {
    const { cache } = await start();
    const elsewhere = await write(store, '/elsewhere', Buffer.from('x'));
    await reaches(cache, elsewhere);
  });

  it('gives up soon on a store without progress reports, but waits for what is yet to be written', async () => {
    store.reportsProgress = false;
    const { cache } = await start();
    const release = store.holdWatches();
    const revision = await putPod('a');
    const startedMs = Date.now();
    expect(await cache.waitFor(revision, 10_000)).toBe(false);
    expect(Date.now() - startedMs).toBeLessThan(2_000);
    expect(store.progressRequests).toBe(0);
    release();
    const future = cache.waitFor((revision + 1) as Revision, 10_000);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await putPod('a')).toBe(revision + 1);
    expect(await future).toBe(true);
  });

  it('waits once for a revision that no event comes for on a store without progress reports', async () => {
    store.reportsProgress = false;
    const { cache } = await start();
    const elsewhere = await write(store, '/elsewhere', Buffer.from('x'));
    expect(await cache.waitFor(elsewhere, 10_000)).toBe(false);
    const asked = jest.spyOn(store, 'currentRevision');
    expect(await cache.waitFor(elsewhere, 10_000)).toBe(false);
    expect(asked).not.toHaveBeenCalled();
    const next = await putPod('a');
    expect(await cache.waitFor(next, 10_000)).toBe(true);
  });

  it('answers false when the time is over, and rejects with the signal', async () => {
    const { cache } = await start();
    const future = (cache.revision + 10) as Revision;
    expect(await cache.waitFor(future, 20)).toBe(false);
    await expect(cache.waitFor(future, 5_000, AbortSignal.timeout(20))).rejects.toThrow('timeout');
    expect(await cache.waitFor(cache.revision, 0)).toBe(true);
  });
});

describe('a broken watch of the store', () => {
  it('is opened anew where it broke, and nobody notices', async () => {
    const watchBroken = jest.fn();
    const { cache, pods } = await start({ observer: { watchBroken } });
    const events = take(pods.watch(cache.revision, stop.signal), 4);
    const revisions = [await putPod('a'), await putPod('b')];
    await reaches(cache, revisions[1] as Revision);
    store.breakWatches();
    revisions.push(await putPod('a'), await putPod('c'));
    expect((await events).map((event) => event.revision)).toEqual(revisions);
    expect(watchBroken).toHaveBeenCalled();
    expect(await findInconsistencies(store, pods, PODS)).toEqual([]);
  });

  it('that was overtaken by compaction ends watches, and the state is loaded anew', async () => {
    const { cache, pods } = await start();
    const kept = await putPod('kept');
    await reaches(cache, kept);
    const unchanged = pods.snapshot().get(`${PODS}kept`);
    await reaches(cache, await putPod('gone'));
    const watching = take(pods.watch(cache.revision, stop.signal), 1);
    const ended = expect(watching).rejects.toThrow(CompactedError);
    store.holdWatches();
    await write(store, `${PODS}gone`, undefined);
    const last = await putPod('new');
    await store.compact(last);
    store.breakWatches();
    await ended;
    await reaches(cache, last);
    expect(names(pods)).toEqual([`kept@${kept}`, `new@${last}`]);
    expect(pods.snapshot().get(`${PODS}kept`)).toBe(unchanged);
    expect(pods.snapshotAt(kept)).toBeUndefined();
    expect(await findInconsistencies(store, pods, PODS)).toEqual([]);
  });

  it('that was overtaken does not end watches that were ahead of it', async () => {
    const from = await putPod('a');
    await putPod('a');
    const { cache, pods } = await start();
    const release = store.holdWatches('/registry/');
    const ahead = await putPod('b');
    const reader = pods.watch(from, stop.signal)[Symbol.asyncIterator]();
    let seen: Revision | undefined;
    while (seen !== ahead) seen = (await reader.next()).value?.revision;
    const next = nextEvents(reader);
    await store.compact(ahead);
    store.breakWatches();
    release();
    await reaches(cache, ahead);
    const live = await putPod('c');
    expect(summary(await next)).toEqual([`put c@${live} after nothing`]);
  });

  it('that only hangs is noticed', async () => {
    const { cache } = await start({ watchdogMs: 10, stalledMs: 20 });
    store.watched.length = 0;
    store.holdWatches();
    const revision = await putPod('a');
    while (store.watched.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(store.watched[0]).toBe('/registry/');
    expect(revision).toBeGreaterThan(cache.revision);
  });
});

describe('what this replica has written', () => {
  const object = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } };

  it('is one entry for the writer and for memory, whoever hears of it first, and is not parsed', async () => {
    const { cache, pods } = await start();
    const value = valueOf('Pod', { name: 'a' });
    const key = `${PODS}a`;
    const release = store.holdWatches();
    const first = await write(store, key, value);
    const readFirst = { ...object, metadata: { resourceVersion: String(first), name: 'a' } };
    const before = pods.written({ key, value, revision: first }, readFirst);
    release();
    await reaches(cache, first);
    expect(pods.snapshot().get(key)).toBe(before);
    expect(before.object).toBe(readFirst);
    expect(`{"kind":"Pod","apiVersion":"v1",${String(before.body)}`).toBe(JSON.stringify(readFirst));

    const second = await write(store, key, value);
    await reaches(cache, second);
    const readSecond = { ...object, metadata: { resourceVersion: String(second), name: 'a' } };
    const after = pods.written({ key, value, revision: second }, readSecond);
    expect(pods.snapshot().get(key)).toBe(after);
    expect(after.object).toBe(readSecond);
  });

  it('is not taken for what another write put there', async () => {
    const { cache, pods } = await start();
    const release = store.holdWatches();
    const revision = await putPod('a');
    pods.written({ key: `${PODS}a`, value: valueOf('Pod', { name: 'a' }), revision }, undefined);
    const last = await putPod('b');
    pods.written({ key: `${PODS}c`, value: valueOf('Pod', { name: 'c' }), revision: last }, undefined);
    release();
    await reaches(cache, last);
    expect([...pods.snapshot().entries(PODS)].map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await findInconsistencies(store, pods, PODS)).toEqual([]);
  });
});

describe('findInconsistencies', () => {
  it('names what differs', async () => {
    const { cache, pods } = await start();
    const a = await putPod('a');
    await reaches(cache, a);
    const snapshot = pods.snapshot();
    const b = await putPod('b');
    await reaches(cache, b);
    const stale: Pick<ResourceCache, 'snapshot'> = {
      snapshot: () => ({
        revision: b,
        get: (key) => snapshot.get(key),
        entries: (prefix, from) => snapshot.entries(prefix, from),
        withField: () => undefined,
        count: (prefix, from) => snapshot.count(prefix, from),
      }),
    };
    expect(await findInconsistencies(store, stale, PODS)).toEqual([{ key: `${PODS}b`, cached: undefined, stored: b }]);
  });
});
