import { existsSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { LmdbFile } from './database';
import { compactStoreFile, openEmbeddedStore, type EmbeddedStoreOptions } from './embedded-store';
import { StoreOwnedError } from './ownership';
import { shrink } from './shrink';
import type { Revision, Store } from '../store';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

describe('shrinking the file of an embedded store', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sternpost-shrink-'));
    path = join(folder, 'registry.mdb');
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** A store that does nothing by itself. */
  const open = (options: Partial<EmbeddedStoreOptions> = {}): Promise<Store> =>
    openEmbeddedStore({ path, compactionIntervalMs: HOUR_MS, expiryIntervalMs: HOUR_MS, ...options });

  /** Everything that a reader can see of a store from a revision on. */
  async function seen(store: Store, since: Revision): Promise<unknown> {
    const newest = await store.currentRevision();
    const lists: unknown[] = [];
    for (let revision = since; revision <= newest; revision++) {
      const list = await store.list({ prefix: '/', revision: revision });
      const page = await store.list({ prefix: '/', revision: revision, limit: 2 });
      lists.push([list, page.ok && page.remaining]);
    }
    const events: unknown[] = [];
    const stop = new AbortController();
    if (since < newest) {
      for await (const batch of store.watch('/', since, stop.signal)) {
        events.push(...batch.events);
        if (batch.revision >= newest) stop.abort();
      }
    }
    return { newest, lists, events };
  }

  const step = fc.record({
    key: fc.integer({ min: 0, max: 7 }),
    bytes: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 3_000, max: 9_000 })),
    isDelete: fc.boolean(),
    ttl: fc.boolean(),
    minutes: fc.integer({ min: 0, max: 2 }),
  });

  it('changes nothing that a reader could see, however the history went', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 60 }), async (steps, back) => {
        let now = HOUR_MS;
        const first = await open({ clock: () => now });
        for (const { key, bytes, isDelete, ttl, minutes } of steps) {
          now += minutes * MINUTE_MS;
          const name = `/${key}`;
          const current = await first.get(name);
          const value = Buffer.alloc(bytes, key);
          const options = ttl ? { ttlSeconds: 10 * HOUR_MS } : {};
          if (current === undefined) await first.create(name, value, options);
          else if (isDelete) await first.delete(name, current.revision);
          else await first.update(name, value, current.revision, options);
        }
        await first.close();

        const opened = await LmdbFile.open(path);
        const { file, compacted } = await shrink(opened, now - back * MINUTE_MS, () => undefined);
        await file.close();
        const shrunk = await open({ clock: () => now });
        const after = await seen(shrunk, Math.max(compacted, 1) as Revision);
        if (compacted > 1) {
          const older = { prefix: '/', revision: (compacted - 1) as Revision };
          expect(await shrunk.list(older)).toMatchObject({ ok: false, reason: 'compacted' });
        }
        // It can be written to, and compacted further.
        await shrunk.create('/after', Buffer.from('x'));
        await shrunk.compact(await shrunk.currentRevision());
        await shrunk.close();

        await rm(path);
        const again = await replay(steps, () => now);
        expect(after).toEqual(await seen(again, Math.max(compacted, 1) as Revision));
        await again.close();
        await rm(path);
      }),
      { numRuns: 25 },
    );

    async function replay(
      steps: readonly { key: number; bytes: number; isDelete: boolean; ttl: boolean }[],
      clock: () => number,
    ): Promise<Store> {
      const store = await open({ clock });
      for (const { key, bytes, isDelete } of steps) {
        const name = `/${key}`;
        const current = await store.get(name);
        if (current === undefined) await store.create(name, Buffer.alloc(bytes, key));
        else if (isDelete) await store.delete(name, current.revision);
        else await store.update(name, Buffer.alloc(bytes, key), current.revision);
      }
      return store;
    }
  }, 60_000);

  it('lets keys expire that were to', async () => {
    let now = HOUR_MS;
    const first = await open({ clock: () => now });
    await first.create('/event', Buffer.from('x'), { ttlSeconds: 60 });
    await first.create('/pod', Buffer.from('x'));
    await first.close();
    await compactStoreFile(path, 0, () => undefined);
    now += 61_000;
    const second = await openEmbeddedStore({ path, clock: () => now, expiryIntervalMs: 5 });
    const { ok } = await second.list({ prefix: '/' });
    expect(ok).toBe(true);
    while ((await second.get('/event')) !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await second.get('/pod')).toBeDefined();
    await second.close();
  });

  /** Writes the same few keys over and over. */
  async function churn(store: Store, rounds: number): Promise<void> {
    const value = Buffer.alloc(100_000, 'x');
    for (let round = 0; round < rounds; round++) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const current = await store.get(`/${index}`);
          if (current === undefined) await store.create(`/${index}`, value);
          else await store.update(`/${index}`, value, current.revision);
        }),
      );
    }
  }

  it('happens at a start when most of a large file is worth nothing, and leaves nothing behind', async () => {
    let now = HOUR_MS;
    const first = await open({ clock: () => now });
    await churn(first, 80);
    const revision = await first.currentRevision();
    await first.close();
    expect(statSync(path).size).toBeGreaterThan(64 * 1024 * 1024);
    // All of it is recent history.
    await (await open({ clock: () => now })).close();
    expect(statSync(path).size).toBeGreaterThan(64 * 1024 * 1024);
    now += HOUR_MS;
    const second = await open({ clock: () => now });
    expect(statSync(path).size).toBeLessThan(2 * 1024 * 1024);
    expect(await second.currentRevision()).toBe(revision);
    expect(await second.list({ prefix: '/' })).toMatchObject({ ok: true, items: { length: 10 } });
    await churn(second, 2);
    await second.close();
    expect((await readdir(folder)).sort()).toEqual(['registry.mdb', 'registry.mdb-lock']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }, 30_000);

  it('is refused while somebody has the file, which stays as it is', async () => {
    const store = await open();
    await churn(store, 1);
    const { size } = statSync(path);
    await expect(compactStoreFile(path, 0, () => undefined)).rejects.toThrow(StoreOwnedError);
    expect(statSync(path).size).toBe(size);
    expect(existsSync(`${path}.compact`)).toBe(false);
    await store.close();
  });

  it('is not needed while there is compaction: what it frees is used again', async () => {
    const store = await openEmbeddedStore({ path, historyMs: 0, compactionIntervalMs: 5 });
    for (let round = 0; round < 6; round++) await churn(store, 30);
    // 180 MB were written, of which the last are not compacted yet: how many, depends on how busy the machine is.
    expect(statSync(path).size).toBeLessThan(90_000_000);
    await store.close();
  }, 30_000);
});
