import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { StoreFileError } from './database';
import { openEmbeddedStore, type EmbeddedStoreOptions } from './embedded-store';
import { StoreOwnedError } from './ownership';
import { Turn } from '../../async/turn';
import type { ListOutcome, Revision, Store, WriteOutcome } from '../store';

const HOUR_MS = 3_600_000;
const HOOK = join(__dirname, '../../../test/support/typescript-hook.js');

const revisionOf = (outcome: WriteOutcome): Revision => {
  if (!outcome.ok) throw new Error('the write failed its compare');
  return outcome.revision;
};

const contentOf = (outcome: ListOutcome): readonly string[] => {
  if (!outcome.ok) throw new Error(outcome.reason);
  return outcome.items.map(({ key, value, revision }) => `${key}=${value.toString()}@${revision}`);
};

describe('the embedded store', () => {
  let folder: string;
  let path: string;
  const opened: Store[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sternpost-embedded-'));
    path = join(folder, 'store.db');
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await rm(folder, { recursive: true });
  });

  async function open(options: Partial<EmbeddedStoreOptions> = {}): Promise<Store> {
    const store = await openEmbeddedStore({ path, ...options });
    opened.push(store);
    return store;
  }

  const put = async (store: Store, key: string, text: string): Promise<Revision> => {
    const current = await store.get(key);
    const value = Buffer.from(text);
    return revisionOf(await (current ? store.update(key, value, current.revision) : store.create(key, value)));
  };

  const remove = async (store: Store, key: string): Promise<Revision> =>
    revisionOf(await store.delete(key, (await store.get(key))!.revision));

  describe('which holds Secrets', () => {
    const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);

    it('lets nobody but its owner read its files, whatever the umask is', async () => {
      path = join(folder, 'data', 'store.db');
      const umask = process.umask(0);
      try {
        await put(await open(), '/a', 'one');
      } finally {
        process.umask(umask);
      }
      expect([join(folder, 'data'), path, `${path}-lock`].map(modeOf)).toEqual(['700', '600', '600']);
    });

    it('takes from others the right that they have got, and says so', async () => {
      await (await open()).close();
      for (const file of [path, `${path}-lock`]) chmodSync(file, 0o644);
      const warnings: string[] = [];
      await open({ logger: { warn: (_, message) => warnings.push(message) } });
      expect([path, `${path}-lock`].map(modeOf)).toEqual(['600', '600']);
      expect(warnings).toEqual([expect.stringContaining(path), expect.stringContaining(`${path}-lock`)]);
    });
  });

  describe('with a long list to read', () => {
    const KEYS = 2_000;
    const keyOf = (index: number): string => `/long/${String(index).padStart(5, '0')}`;

    async function filled(options: Partial<EmbeddedStoreOptions> = {}): Promise<Store> {
      const store = await open(options);
      await Promise.all(Array.from({ length: KEYS }, (_, index) => put(store, keyOf(index), 'before')));
      return store;
    }

    /** Every piece of work is over as soon as it looks at the clock. */
    function withoutTime(): void {
      let now = performance.now();
      jest.spyOn(performance, 'now').mockImplementation(() => (now += 1_000));
    }

    afterEach(() => jest.restoreAllMocks());

    it('lets others have their turn, and still reads one revision', async () => {
      const store = await filled();
      withoutTime();
      const listing = store.list({ prefix: '/long/' });
      let turns = 0;
      const count = (): void => {
        turns++;
        counting = setImmediate(count);
      };
      let counting = setImmediate(count);
      await Promise.all([remove(store, keyOf(KEYS - 1)), put(store, keyOf(KEYS), 'new')]);
      const list = await listing;
      clearImmediate(counting);
      if (!list.ok) throw new Error(list.reason);
      expect(turns).toBeGreaterThan(5);
      expect(list.items.map(({ key }) => key)).toEqual(Array.from({ length: KEYS }, (_, index) => keyOf(index)));
      expect(list.remaining).toBe(0);
    });

    it('counts what remains behind a page that was read in turns', async () => {
      const store = await filled();
      withoutTime();
      const listing = store.list({ prefix: '/long/', limit: 1_000 });
      await remove(store, keyOf(1_500));
      expect(await listing).toMatchObject({ ok: true, items: { length: 1_000 }, remaining: KEYS - 1_000 });
      expect(await store.list({ prefix: '/long/', limit: 1_000 })).toMatchObject({ remaining: KEYS - 1_001 });
    });

    it('reads the newest state anew when it is compacted meanwhile, and says so of an older one', async () => {
      const store = await filled();
      const before = await store.currentRevision();
      withoutTime();
      let goOn = (): void => {};
      const compacted = new Promise<void>((resolve) => (goOn = resolve));
      jest.spyOn(Turn.prototype, 'next').mockReturnValue(compacted);
      const newest = store.list({ prefix: '/long/' });
      const older = store.list({ prefix: '/long/', revision: before });
      const removed = await remove(store, keyOf(0));
      await store.compact(removed);
      goOn();
      expect(await newest).toMatchObject({ ok: true, revision: removed, items: { length: KEYS - 1 } });
      expect(await older).toMatchObject({ ok: false, reason: 'compacted' });
    });

    it('stops when it is closed or its reader has gone', async () => {
      const store = await filled();
      withoutTime();
      const gone = new AbortController();
      const abandoned = store.list({ prefix: '/long/' }, gone.signal);
      const listing = store.list({ prefix: '/long/' });
      gone.abort(new Error('the client left'));
      await expect(abandoned).rejects.toThrow('the client left');
      const closed = store.close();
      await expect(listing).rejects.toThrow('the store is closed');
      await closed;
    });
  });

  describe('after it was closed and opened again', () => {
    it('has everything it had, at the same revision', async () => {
      const first = await open();
      await put(first, '/a', 'one');
      await put(first, '/a', 'two');
      await put(first, '/b', 'one');
      await remove(first, '/b');
      const before = await first.list({ prefix: '/' });
      await first.close();
      const second = await open();
      expect(await second.list({ prefix: '/' })).toEqual(before);
      expect(await second.currentRevision()).toBe(5);
      expect(await put(second, '/c', 'one')).toBe(6);
    });

    it('still has its history', async () => {
      const first = await open();
      const start = await put(first, '/a', 'one');
      const second = await put(first, '/a', 'two');
      await remove(first, '/a');
      await first.close();
      const again = await open();
      const events: string[] = [];
      for await (const batch of again.watch('/', start, new AbortController().signal)) {
        for (const event of batch.events)
          events.push(`${event.type}@${event.revision} was ${event.previous?.value.toString()}`);
        if (events.length === 2) break;
      }
      expect(events).toEqual([`put@${second} was one`, `delete@${second + 1} was two`]);
      expect(contentOf(await again.list({ prefix: '/', revision: start }))).toEqual([`/a=one@${start}`]);
    });

    it('does not go back to a lower revision when all traces of the newest write are compacted', async () => {
      let now = HOUR_MS;
      const first = await open({ clock: () => now, compactionIntervalMs: 10 });
      await put(first, '/a', 'one');
      const last = await remove(first, '/a');
      now += HOUR_MS;
      await compactedTo(first, last);
      await first.close();
      const second = await open();
      expect(await second.currentRevision()).toBe(last);
      expect(await put(second, '/b', 'one')).toBe(last + 1);
    });

    it('lets keys expire whose time has passed meanwhile', async () => {
      let now = HOUR_MS;
      const first = await open({ clock: () => now });
      await first.create('/a', Buffer.from('one'), { ttlSeconds: 60 });
      await first.close();
      now += 59_000;
      const second = await open({ clock: () => now, expiryIntervalMs: 5 });
      await sleep(50);
      expect(await second.get('/a')).toBeDefined();
      now += 1000;
      await until(async () => (await second.get('/a')) === undefined);
    });
  });

  describe('its history', () => {
    it('is kept for as long as was asked for', async () => {
      let now = HOUR_MS;
      const store = await open({ clock: () => now, historyMs: 300_000, compactionIntervalMs: 10 });
      const old = await put(store, '/a', 'one');
      now += 200_000;
      const recent = await put(store, '/a', 'two');
      await sleep(50);
      expect((await store.list({ prefix: '/', revision: old })).ok).toBe(true);
      now += 200_000;
      await put(store, '/a', 'three');
      await compactedTo(store, old);
      await sleep(50);
      expect(await store.list({ prefix: '/', revision: (old - 1) as Revision })).toMatchObject({ reason: 'compacted' });
      expect(contentOf(await store.list({ prefix: '/', revision: recent }))).toEqual([`/a=two@${recent}`]);
      now += 200_000;
      await compactedTo(store, recent);
    });

    it('is compacted as often as it grows old, where that is short', async () => {
      const store = await open({ historyMs: 100 });
      const old = await put(store, '/a', 'one');
      await put(store, '/a', 'two');
      await compactedTo(store, old);
    });

    it('is all kept where it never grows old', async () => {
      let now = HOUR_MS;
      const store = await open({ clock: () => now, historyMs: Infinity, compactionIntervalMs: 5 });
      const old = await put(store, '/a', 'one');
      now += 10_000 * HOUR_MS;
      await put(store, '/a', 'two');
      await sleep(50);
      expect(contentOf(await store.list({ prefix: '/', revision: old }))).toEqual([`/a=one@${old}`]);
    });

    it('is compacted from the file in steps, and does not make it grow', async () => {
      let now = HOUR_MS;
      const store = await open({ clock: () => now, historyMs: 1000, compactionIntervalMs: 5 });
      const value = 'x'.repeat(2000);
      const sizes: number[] = [];
      for (let round = 0; round < 6; round++) {
        for (let index = 0; index < 10; index++) {
          await Promise.all(Array.from({ length: 50 }, (_, key) => put(store, `/${key}`, value)));
        }
        now += 2000;
        await compactedTo(store, await store.currentRevision());
        await sleep(100);
        sizes.push((await readFile(path)).length);
      }
      expect(sizes.at(-1)).toBeLessThan(sizes[0]! * 2);
    });

    it('shows every state that is not compacted, whatever was written and compacted', async () => {
      const command = fc.oneof(
        { weight: 6, arbitrary: fc.record({ type: fc.constant('put' as const), key: fc.nat(4) }) },
        { weight: 3, arbitrary: fc.record({ type: fc.constant('delete' as const), key: fc.nat(4) }) },
        { weight: 1, arbitrary: fc.record({ type: fc.constant('compact' as const), key: fc.nat(4) }) },
      );
      let file = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 30 }), async (commands) => {
          const store = await openEmbeddedStore({
            path: `${path}${file++}`,
            compactionIntervalMs: 5,
            historyMs: HOUR_MS,
          });
          const states = new Map<Revision, readonly string[]>();
          let compacted = 0;
          for (const [index, { type, key: number }] of commands.entries()) {
            const key = `/${number}`;
            if (type === 'put') await put(store, key, `v${index}`);
            else if (type === 'delete' && (await store.get(key)) !== undefined) await remove(store, key);
            else if (type === 'compact') {
              compacted = Math.max(1, compacted, (await store.currentRevision()) - number);
              await store.compact(compacted as Revision);
              await sleep(6);
            }
            states.set(await store.currentRevision(), contentOf(await store.list({ prefix: '/' })));
          }
          for (const [revision, content] of states) {
            const outcome = await store.list({ prefix: '/', revision });
            if (revision < compacted) expect(outcome).toMatchObject({ ok: false, reason: 'compacted' });
            else {
              expect(contentOf(outcome)).toEqual(content);
              expect(await pagesOf(store, revision, 2)).toEqual(content);
            }
          }
          await store.close();
        }),
        { numRuns: 25 },
      );
    });

    it('is counted right, however much has been written since', async () => {
      const store = await open();
      for (let index = 0; index < 10; index++) await put(store, `/${index}`, 'old');
      const revision = await put(store, '/5', 'newer');
      const content = contentOf(await store.list({ prefix: '/' }));
      await Promise.all(Array.from({ length: 10_001 }, (_, index) => store.create(`/many/${index}`, Buffer.from('x'))));
      await remove(store, '/7');
      await put(store, '/3', 'new');
      expect(await pagesOf(store, revision, 3)).toEqual(content);
    });

    it('cannot be compacted beyond the present', async () => {
      const store = await open();
      await expect(store.compact(((await store.currentRevision()) + 1) as Revision)).rejects.toThrow(RangeError);
    });
  });

  describe('a watch', () => {
    it('reads from the file what is no longer in memory', async () => {
      const store = await open();
      const value = Buffer.alloc(200_000, 'x');
      const start = await store.currentRevision();
      await Promise.all(Array.from({ length: 400 }, (_, index) => store.create(`/${index % 2}/${index}`, value)));
      const keys: string[] = [];
      for await (const batch of store.watch('/1/', start, new AbortController().signal)) {
        keys.push(...batch.events.map((event) => event.key));
        if (keys.length >= 200) break;
      }
      expect(keys).toEqual(Array.from({ length: 200 }, (_, index) => `/1/${2 * index + 1}`));
    });
  });

  describe('a key', () => {
    it.each([
      ['empty', ''],
      ['longer than the file can hold', 'x'.repeat(2000)],
      ['with a zero byte', 'a\0b'],
    ])('that is %s is refused, and does no harm', async (_, key) => {
      const store = await open();
      await expect(store.create(key, Buffer.from('x'))).rejects.toThrow(RangeError);
      await put(store, '/a', 'one');
    });
  });

  describe('the file', () => {
    it('is owned by one store of this process', async () => {
      const store = await open();
      await expect(openEmbeddedStore({ path })).rejects.toThrow(StoreOwnedError);
      await store.close();
      await open();
    });

    it('is owned by one process, until that dies in whatever way', async () => {
      const script = `
        require(${JSON.stringify(HOOK)});
        const { openEmbeddedStore } = require(${JSON.stringify(join(__dirname, 'embedded-store.ts'))});
        openEmbeddedStore({ path: ${JSON.stringify(path)} }).then(
          () => { console.log('open'); setInterval(() => {}, 1000); },
          (error) => { console.log(error.message); },
        );`;
      const start = async () => {
        const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
        const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
        return { child, line: line.trim() };
      };
      const first = await start();
      expect(first.line).toBe('open');
      const owner = `${path}: this store file is in use by process ${first.child.pid}; one process owns it at a time`;
      await expect(openEmbeddedStore({ path })).rejects.toThrow(owner);
      const second = await start();
      expect(second.line).toBe(owner);
      first.child.kill('SIGKILL');
      await once(first.child, 'close');
      const store = await open();
      await put(store, '/a', 'one');
      const third = await start();
      expect(third.line).toContain(`in use by process ${process.pid}`);
    });

    it.each([
      ['cut in half', async () => truncate(path, (await readFile(path)).length >> 1)],
      ['cut at its last page', async () => truncate(path, (await readFile(path)).length - 4096)],
      ['cut within its head', () => truncate(path, 5000)],
      ['replaced by text', () => writeFile(path, 'hello\n'.repeat(10_000))],
      ['replaced by text of its length', async () => overwrite(0, 0x61)],
      ['cut to a few bytes', () => truncate(path, 10)],
      ['overwritten behind its head', () => overwrite(8192, 0x5a)],
      ['wiped behind its head', () => overwrite(8192, 0)],
    ])('that was %s is refused with a clear error', async (_, damage) => {
      const store = await open();
      for (let index = 0; index < 200; index++) await put(store, `/${index}`, 'x'.repeat(index * 50));
      await store.close();
      await damage();
      for (let attempt = 0; attempt < 2; attempt++) {
        await expect(openEmbeddedStore({ path })).rejects.toThrow(StoreFileError);
        await expect(openEmbeddedStore({ path })).rejects.toThrow(path);
      }
    });

    async function overwrite(from: number, byte: number): Promise<void> {
      await writeFile(path, (await readFile(path)).fill(byte, from));
    }

    it('that another program made is refused', async () => {
      const { open: openLmdb } = await import('lmdb');
      const other = openLmdb({ path, noSubdir: true });
      await other.put('hello', 'world');
      await other.close();
      await expect(openEmbeddedStore({ path })).rejects.toThrow('not a store of this program');
    });

    it('is created together with its folder', async () => {
      path = join(folder, 'deep/er/store.db');
      const store = await open();
      expect(await store.currentRevision()).toBe(1);
    });
  });

  /** The content of a past revision, read in pages whose counts are checked. */
  async function pagesOf(store: Store, revision: Revision, limit: number): Promise<readonly string[]> {
    const content: string[] = [];
    const counts: number[] = [];
    for (let start = '/'; ;) {
      const page = await store.list({ prefix: '/', start, limit, revision });
      content.push(...contentOf(page));
      if (!page.ok) throw new Error(page.reason);
      counts.push(content.length + page.remaining);
      if (page.remaining === 0) break;
      start = `${page.items.at(-1)!.key}\0`;
    }
    expect(new Set(counts)).toEqual(new Set([content.length]));
    return content;
  }

  async function compactedTo(store: Store, revision: Revision): Promise<void> {
    await until(async () => {
      const outcome = await store.list({ prefix: '/', limit: 1, revision: (revision - 1) as Revision });
      return !outcome.ok && outcome.reason === 'compacted';
    });
  }
});

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('gave up waiting');
    await sleep(5);
  }
}
