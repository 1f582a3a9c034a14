import type { Revision } from '../../src/storage/store';
import { bytes, listed, revisionOf, type TestRegistry } from './test-registry';

/** What a store promises of single keys: reads, writes that race, the revisions they get, and keys that expire. */
export function describeKeys(newRegistry: () => TestRegistry): void {
  describe('single keys', () => {
    it('reads nothing where nothing was written', async () => {
      const { store, root } = newRegistry();
      expect(await store.get(`${root}absent`)).toBeUndefined();
    });

    it('reads what was created, with the revision of its write', async () => {
      const { store, root, create } = newRegistry();
      const revision = await create('a', 'one');
      expect(await store.get(`${root}a`)).toEqual({ key: `${root}a`, value: bytes('one'), revision });
    });

    it('creates only what does not exist, and says what stands there', async () => {
      const { store, root, create } = newRegistry();
      const revision = await create('a', 'one');
      expect(await store.create(`${root}a`, bytes('two'))).toEqual({
        ok: false,
        current: { key: `${root}a`, value: bytes('one'), revision },
      });
    });

    it('updates only at the expected revision, and says what stands there', async () => {
      const { store, root, create, update } = newRegistry();
      const first = await create('a', 'one');
      const second = await update('a', 'two', first);
      expect(second).toBeGreaterThan(first);
      expect(await store.update(`${root}a`, bytes('three'), first)).toEqual({
        ok: false,
        current: { key: `${root}a`, value: bytes('two'), revision: second },
      });
    });

    it('does not update what does not exist', async () => {
      const { store, root } = newRegistry();
      const revision = await store.currentRevision();
      expect(await store.update(`${root}a`, bytes('one'), revision)).toEqual({ ok: false, current: undefined });
      expect(await store.get(`${root}a`)).toBeUndefined();
    });

    it('deletes only at the expected revision, and says what stands there', async () => {
      const { store, root, create, update, remove } = newRegistry();
      const first = await create('a', 'one');
      const second = await update('a', 'two', first);
      expect(await store.delete(`${root}a`, first)).toEqual({
        ok: false,
        current: { key: `${root}a`, value: bytes('two'), revision: second },
      });
      const third = await remove('a', second);
      expect(third).toBeGreaterThan(second);
      expect(await store.get(`${root}a`)).toBeUndefined();
      expect(await store.delete(`${root}a`, second)).toEqual({ ok: false, current: undefined });
    });

    it('creates again what was deleted', async () => {
      const { store, root, create, remove } = newRegistry();
      const deleted = await remove('a', await create('a', 'one'));
      const again = await create('a', 'two');
      expect(again).toBeGreaterThan(deleted);
      expect((await store.get(`${root}a`))?.value.toString()).toBe('two');
    });

    it('does not move the revision for a failed write', async () => {
      const { store, root, create } = newRegistry();
      const revision = await create('a');
      await store.create(`${root}a`, bytes('two'));
      await store.delete(`${root}b`, revision);
      expect(await create('b')).toBe(revision + 1);
    });

    it('keeps a value apart from the buffer that was written', async () => {
      const { store, root } = newRegistry();
      const buffer = bytes('one');
      const written = store.create(`${root}a`, buffer);
      await revisionOf(written);
      buffer.fill(0);
      expect((await store.get(`${root}a`))?.value.toString()).toBe('one');
    });

    it('stores empty values and arbitrary bytes', async () => {
      const { store, root } = newRegistry();
      const all = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
      await revisionOf(store.create(`${root}empty`, Buffer.alloc(0)));
      await revisionOf(store.create(`${root}all`, all));
      expect((await store.get(`${root}empty`))?.value).toEqual(Buffer.alloc(0));
      expect((await store.get(`${root}all`))?.value).toEqual(all);
    });

    it('stores values of 1.5 MB less the request around them, as etcd does by default', async () => {
      const { store, root, record } = newRegistry();
      const value = Buffer.alloc(1_500_000, 'x');
      const revision = await revisionOf(store.create(`${root}big`, value));
      expect((await store.get(`${root}big`))?.value.equals(value)).toBe(true);
      const recorder = record('', (revision - 1) as Revision);
      const [event] = await recorder.untilEvents(1);
      await recorder.stop();
      expect(event?.type === 'put' && event.value.equals(value)).toBe(true);
    });

    it('stores keys of a thousand bytes', async () => {
      const { store, root, create } = newRegistry();
      const key = 'k'.repeat(1000);
      await create(key, 'long');
      expect((await store.get(root + key))?.value.toString()).toBe('long');
    });
  });

  describe('concurrent writers', () => {
    it('lets one of many creators win', async () => {
      const { store, root } = newRegistry();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.create(`${root}a`, bytes(`${index}`))),
      );
      const winners = outcomes.filter((outcome) => outcome.ok);
      expect(winners).toHaveLength(1);
      const current = await store.get(`${root}a`);
      for (const outcome of outcomes) if (!outcome.ok) expect(outcome.current).toEqual(current);
    });

    it('lets one of many updaters of one revision win', async () => {
      const { store, root, create } = newRegistry();
      const first = await create('a', 'start');
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.update(`${root}a`, bytes(`${index}`), first)),
      );
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    });

    it('loses no increment of a counter', async () => {
      const { store, root, create } = newRegistry();
      await create('counter', '0');
      const increment = async (): Promise<void> => {
        for (let current = await store.get(`${root}counter`); current !== undefined;) {
          const next = bytes(`${Number(current.value.toString()) + 1}`);
          const outcome = await store.update(`${root}counter`, next, current.revision);
          if (outcome.ok) return;
          current = outcome.current;
        }
      };
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let round = 0; round < 10; round++) await increment();
        }),
      );
      expect((await store.get(`${root}counter`))?.value.toString()).toBe('80');
    });

    it('gives every write a revision of its own, in the order of acknowledgement per caller', async () => {
      const { create } = newRegistry();
      const perCaller = await Promise.all(
        Array.from({ length: 8 }, async (_, caller) => {
          const revisions: Revision[] = [];
          for (let index = 0; index < 10; index++) revisions.push(await create(`${caller}-${index}`));
          return revisions;
        }),
      );
      for (const revisions of perCaller) {
        expect(revisions).toEqual([...revisions].sort((left, right) => left - right));
      }
      expect(new Set(perCaller.flat()).size).toBe(80);
    });
  });

  describe('the current revision', () => {
    it('is a number above zero', async () => {
      const { store } = newRegistry();
      expect(await store.currentRevision()).toBeGreaterThan(0);
    });

    it('is not below any acknowledged write, nor any revision that was read', async () => {
      const { store, root, create } = newRegistry();
      for (let index = 0; index < 20; index++) {
        const revision = await create(`${index}`);
        expect(await store.currentRevision()).toBeGreaterThanOrEqual(revision);
        const list = await listed(store.list({ prefix: root }));
        expect(await store.currentRevision()).toBeGreaterThanOrEqual(list.revision);
      }
    });

    it('is not below what a reader saw while writers are busy', async () => {
      const { store, root, create } = newRegistry();
      let writing = true;
      const writer = (async () => {
        for (let index = 0; writing; index++) await create(`${index}`);
      })();
      for (let index = 0; index < 50; index++) {
        const seen = await listed(store.list({ prefix: root }));
        const newest = Math.max(0, ...seen.items.map((item) => item.revision));
        expect(seen.revision).toBeGreaterThanOrEqual(newest);
        expect(await store.currentRevision()).toBeGreaterThanOrEqual(seen.revision);
      }
      writing = false;
      await writer;
    });
  });

  describe('keys with a time to live', () => {
    it('vanish with a delete event that carries what was there', async () => {
      const { store, root, record, summary } = newRegistry();
      const start = await store.currentRevision();
      const revision = await revisionOf(store.create(`${root}a`, bytes('one'), { ttlSeconds: 1 }));
      expect(await store.get(`${root}a`)).toBeDefined();
      const recorder = record('', start);
      const events = await recorder.untilEvents(2);
      await recorder.stop();
      expect(events.map(summary)).toEqual([
        `${revision} put a=one`,
        `${events[1]!.revision} delete a was one@${revision}`,
      ]);
      expect(await store.get(`${root}a`)).toBeUndefined();
    }, 15_000);

    it('stay when they are written again without one', async () => {
      const { store, root, update, record } = newRegistry();
      const first = await revisionOf(store.create(`${root}kept`, bytes('one'), { ttlSeconds: 1 }));
      await revisionOf(store.create(`${root}gone`, bytes('one'), { ttlSeconds: 1 }));
      await update('kept', 'two', first);
      const recorder = record('gone', first);
      await recorder.untilEvents(2);
      await recorder.stop();
      expect((await store.get(`${root}kept`))?.value.toString()).toBe('two');
    }, 15_000);
  });
}
