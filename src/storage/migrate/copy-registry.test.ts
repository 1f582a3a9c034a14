import { openTemporaryStore, type TemporaryStore } from '../../../test/support/cache-fixture';
import { copyRegistry, type CopyOptions } from './copy-registry';
import { remainingSeconds } from './event-lifetime';
import { pruneConsent } from './prune-consent';
import type { Store } from '../store';

const signal = new AbortController().signal;

async function fill(store: Store, root: string, paths: readonly string[], text = 'value'): Promise<void> {
  await Promise.all(paths.map((path) => store.create(root + path, Buffer.from(`${text} of ${path}`))));
}

async function content(store: Store, root: string): Promise<Readonly<Record<string, string>>> {
  const outcome = await store.list({ prefix: root });
  if (!outcome.ok) throw new Error(outcome.reason);
  return Object.fromEntries(outcome.items.map(({ key, value }) => [key.slice(root.length), value.toString()]));
}

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `configmaps/default/map-${String(i).padStart(5, '0')}`);

describe('copying a registry', () => {
  let source: TemporaryStore;
  let target: TemporaryStore;

  beforeEach(async () => {
    source = await openTemporaryStore();
    target = await openTemporaryStore();
  });

  afterEach(async () => {
    await source[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  const copy = (options: Partial<CopyOptions> = {}): ReturnType<typeof copyRegistry> =>
    copyRegistry({
      from: { store: source.store, root: '/registry/' },
      to: { store: target.store, root: '/other/root/' },
      ttlSecondsOf: () => undefined,
      mayPrune: pruneConsent({ prune: false, yes: false, announce: () => undefined }),
      onProgress: () => undefined,
      signal,
      ...options,
    });

  it('takes every key and value along, over many pages, and says how far it is', async () => {
    await fill(source.store, '/registry/', numbered(2_500));
    const told: (readonly [number, number])[] = [];
    const outcome = await copy({ onProgress: (done, total) => told.push([done, total]) });
    expect(outcome).toEqual({ keys: 2_500, written: 2_500, deleted: 0 });
    expect(await content(target.store, '/other/root/')).toEqual(await content(source.store, '/registry/'));
    expect(told.at(-1)).toEqual([2_500, 2_500]);
  });

  it('goes on where it was broken off', async () => {
    await fill(source.store, '/registry/', numbered(300));
    const stop = new AbortController();
    const broken = copy({
      signal: stop.signal,
      onProgress: (done) => void (done === 100 && stop.abort(new Error('enough'))),
    });
    await expect(broken).rejects.toThrow('enough');
    const { written, keys } = await copy();
    expect(keys).toBe(300);
    expect(written).toBeLessThanOrEqual(200);
    expect(await content(target.store, '/other/root/')).toEqual(await content(source.store, '/registry/'));
  });

  it('brings up to date what has changed since', async () => {
    await fill(source.store, '/registry/', ['pods/a', 'pods/b']);
    await copy();
    const { revision } = (await source.store.get('/registry/pods/a'))!;
    await source.store.update('/registry/pods/a', Buffer.from('changed'), revision);
    expect(await copy()).toEqual({ keys: 2, written: 1, deleted: 0 });
    expect(await content(target.store, '/other/root/')).toEqual({ 'pods/a': 'changed', 'pods/b': 'value of pods/b' });
  });

  it('refuses a destination with other keys, before it writes, unless it may delete them', async () => {
    await fill(source.store, '/registry/', ['pods/a']);
    await fill(target.store, '/other/root/', ['pods/b']);
    await expect(copy()).rejects.toThrow('1 keys that the source does not have (pods/b)');
    expect(await content(target.store, '/other/root/')).toEqual({ 'pods/b': 'value of pods/b' });
    const announced: string[] = [];
    const announce = (text: string): number => announced.push(text);
    await expect(copy({ mayPrune: pruneConsent({ prune: true, yes: false, announce }) })).rejects.toThrow('--yes');
    expect(await content(target.store, '/other/root/')).toEqual({ 'pods/b': 'value of pods/b' });
    const outcome = await copy({ mayPrune: pruneConsent({ prune: true, yes: true, announce }) });
    expect(outcome).toEqual({ keys: 1, written: 1, deleted: 1 });
    expect(await content(target.store, '/other/root/')).toEqual({ 'pods/a': 'value of pods/a' });
    expect(new Set(announced)).toEqual(new Set(['--prune deletes 1 of 1 keys of the destination: 1 pods']));
  });

  it('deletes up to a tenth of the destination without being asked, and says of which resource it is', async () => {
    await fill(source.store, '/registry/', numbered(27));
    await fill(target.store, '/other/root/', [...numbered(27), 'pods/a', 'secrets/a', 'pods/b']);
    const announced: string[] = [];
    const mayPrune = pruneConsent({ prune: true, yes: false, announce: (text) => announced.push(text) });
    expect(await copy({ mayPrune })).toMatchObject({ keys: 27, deleted: 3 });
    expect(announced).toEqual(['--prune deletes 3 of 30 keys of the destination: 2 pods, 1 secrets']);
    await fill(target.store, '/other/root/', ['pods/a', 'secrets/a', 'pods/b', 'pods/c']);
    await expect(copy({ mayPrune })).rejects.toThrow('more than a tenth');
  });

  it('never takes an empty source for one, whatever may be deleted', async () => {
    await fill(source.store, '/elsewhere/', ['pods/a']);
    await fill(source.store, '/registry/', ['masterleases/192.0.2.1']);
    await fill(target.store, '/other/root/', ['pods/b']);
    const mayPrune = pruneConsent({ prune: true, yes: true, announce: () => undefined });
    await expect(copy({ mayPrune })).rejects.toThrow('the source holds no key below /registry/');
    expect(await content(target.store, '/other/root/')).toEqual({ 'pods/b': 'value of pods/b' });
  });

  it('deletes nothing that it has not announced, when the source is emptied meanwhile', async () => {
    await fill(source.store, '/registry/', ['pods/a', 'pods/b']);
    await fill(target.store, '/other/root/', ['pods/b']);
    let lists = 0;
    const emptied = new Proxy(source.store, {
      get: (store, name) =>
        name === 'list'
          ? async (...args: Parameters<Store['list']>) => {
              if (lists++ === 1)
                await store.delete('/registry/pods/b', (await store.get('/registry/pods/b'))!.revision);
              return store.list(...args);
            }
          : (Reflect.get(store, name) as (...args: unknown[]) => unknown).bind(store),
    });
    const mayPrune = pruneConsent({ prune: true, yes: true, announce: () => undefined });
    const copied = copy({ from: { store: emptied, root: '/registry/' }, mayPrune });
    await expect(copied).rejects.toThrow('the source loses keys while it is copied, last pods/b');
    expect(await content(target.store, '/other/root/')).toHaveProperty('pods/b');
  });

  it('gives up on a source that does not stop changing', async () => {
    await fill(source.store, '/registry/', ['pods/a']);
    let writes = 0;
    const changing = new Proxy(source.store, {
      get: (store, name) =>
        name === 'list'
          ? async (...args: Parameters<Store['list']>) => {
              await store.create(`/registry/pods/new-${writes++}`, Buffer.from('new'));
              return store.list(...args);
            }
          : (Reflect.get(store, name) as (...args: unknown[]) => unknown).bind(store),
    });
    await expect(copy({ from: { store: changing, root: '/registry/' } })).rejects.toThrow('keeps changing');
  });

  it('leaves the leases of live servers alone', async () => {
    await fill(source.store, '/registry/', ['masterleases/192.0.2.1', 'pods/a']);
    await fill(target.store, '/other/root/', ['masterleases/192.0.2.2']);
    expect(await copy()).toEqual({ keys: 1, written: 1, deleted: 0 });
  });

  it('lets Events end when they would have', async () => {
    await fill(source.store, '/registry/', ['events/default/a', 'pods/a']);
    const asked: string[] = [];
    await copy({
      ttlSecondsOf: (path) => {
        asked.push(path);
        return path.startsWith('events/') ? 1 : undefined;
      },
    });
    expect(asked.sort()).toEqual(['events/default/a', 'pods/a']);
    const deleted = new AbortController();
    const after = (await target.store.get('/other/root/events/default/a'))!.revision;
    for await (const { events } of target.store.watch('/other/root/', after, deleted.signal)) {
      if (events.some(({ type, key }) => type === 'delete' && key.endsWith('events/default/a'))) deleted.abort();
    }
    expect(Object.keys(await content(target.store, '/other/root/'))).toEqual(['pods/a']);
  });
});

describe('the time that a copied value has left', () => {
  const now = Date.parse('2026-01-01T12:00:00Z');
  const event = (fields: object): Buffer => Buffer.from(JSON.stringify(fields));

  it.each([
    ['of anything but an Event is not limited', 'pods/a', event({ lastTimestamp: '2026-01-01T11:00:00Z' }), undefined],
    [
      'of an Event is counted from when it was seen last',
      'events/n/a',
      event({ metadata: { creationTimestamp: '2026-01-01T11:00:00Z' }, lastTimestamp: '2026-01-01T11:50:00Z' }),
      3000,
    ],
    [
      'of an Event of a series too',
      'events/n/a',
      event({ series: { lastObservedTime: '2026-01-01T11:59:00.5Z' } }),
      3541,
    ],
    ['of an old Event is a minute', 'events/n/a', event({ eventTime: '2025-01-01T00:00:00Z' }), 60],
    ['of one without times is all of it', 'events/n/a', event({}), 3600],
    ['of one in Protobuf is all of it', 'events/n/a', Buffer.from('k8s\0...'), 3600],
  ])('%s', (_, path, value, expected) => {
    expect(remainingSeconds(path, value, 3600, now)).toBe(expected);
  });
});
