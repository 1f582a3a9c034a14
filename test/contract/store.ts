import { randomUUID } from 'node:crypto';
import {
  CompactedError,
  StoreClosedError,
  type ListOutcome,
  type Revision,
  type Store,
  type StoreEvent,
  type WriteOutcome,
} from '../../src/storage/store';
import { WatchRecorder } from './watch-recorder';

export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and whatever was started for it. */
  close(): Promise<void>;
}

const bytes = (text: string): Buffer => Buffer.from(text);

/** Runs every promise of the Store seam as a test against the stores that `open` gives. */
export function describeStore(name: string, open: () => Promise<OpenedStore>): void {
  describe(`${name} keeps the promises of a store:`, () => {
    let opened: OpenedStore;
    let store: Store;
    let root: string;

    beforeAll(async () => {
      opened = await open();
      store = opened.store;
    }, 30_000);

    afterAll(async () => {
      await opened.close();
    });

    // Every test has a registry of its own, so that they share one store.
    beforeEach(() => {
      root = `/${randomUUID()}/`;
    });

    async function revisionOf(write: Promise<WriteOutcome>): Promise<Revision> {
      const outcome = await write;
      if (!outcome.ok) throw new Error('the write failed its compare');
      return outcome.revision;
    }

    const create = (key: string, value = key): Promise<Revision> => revisionOf(store.create(root + key, bytes(value)));

    const update = (key: string, value: string, expected: Revision): Promise<Revision> =>
      revisionOf(store.update(root + key, bytes(value), expected));

    const remove = (key: string, expected: Revision): Promise<Revision> =>
      revisionOf(store.delete(root + key, expected));

    async function listed(list: Promise<ListOutcome>): Promise<ListOutcome & { ok: true }> {
      const outcome = await list;
      if (!outcome.ok) throw new Error(`the list was refused: ${outcome.reason}`);
      return outcome;
    }

    const namesOf = (outcome: ListOutcome & { ok: true }): readonly string[] =>
      outcome.items.map((item) => item.key.slice(root.length));

    const record = (prefix: string, after: Revision): WatchRecorder => new WatchRecorder(store, root + prefix, after);

    const summary = (event: StoreEvent): string => {
      const value = event.type === 'put' ? `=${event.value.toString()}` : '';
      const previous =
        event.previous === undefined ? '' : ` was ${event.previous.value.toString()}@${event.previous.revision}`;
      return `${event.revision} ${event.type} ${event.key.slice(root.length)}${value}${previous}`;
    };

    describe('single keys', () => {
      it('reads nothing where nothing was written', async () => {
        expect(await store.get(`${root}absent`)).toBeUndefined();
      });

      it('reads what was created, with the revision of its write', async () => {
        const revision = await create('a', 'one');
        expect(await store.get(`${root}a`)).toEqual({ key: `${root}a`, value: bytes('one'), revision });
      });

      it('creates only what does not exist, and says what stands there', async () => {
        const revision = await create('a', 'one');
        expect(await store.create(`${root}a`, bytes('two'))).toEqual({
          ok: false,
          current: { key: `${root}a`, value: bytes('one'), revision },
        });
      });

      it('updates only at the expected revision, and says what stands there', async () => {
        const first = await create('a', 'one');
        const second = await update('a', 'two', first);
        expect(second).toBeGreaterThan(first);
        expect(await store.update(`${root}a`, bytes('three'), first)).toEqual({
          ok: false,
          current: { key: `${root}a`, value: bytes('two'), revision: second },
        });
      });

      it('does not update what does not exist', async () => {
        const revision = await store.currentRevision();
        expect(await store.update(`${root}a`, bytes('one'), revision)).toEqual({ ok: false, current: undefined });
        expect(await store.get(`${root}a`)).toBeUndefined();
      });

      it('deletes only at the expected revision, and says what stands there', async () => {
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
        const deleted = await remove('a', await create('a', 'one'));
        const again = await create('a', 'two');
        expect(again).toBeGreaterThan(deleted);
        expect((await store.get(`${root}a`))?.value.toString()).toBe('two');
      });

      it('does not move the revision for a failed write', async () => {
        const revision = await create('a');
        await store.create(`${root}a`, bytes('two'));
        await store.delete(`${root}b`, revision);
        expect(await create('b')).toBe(revision + 1);
      });

      it('keeps a value apart from the buffer that was written', async () => {
        const buffer = bytes('one');
        const written = store.create(`${root}a`, buffer);
        await revisionOf(written);
        buffer.fill(0);
        expect((await store.get(`${root}a`))?.value.toString()).toBe('one');
      });

      it('stores empty values and arbitrary bytes', async () => {
        const all = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
        await revisionOf(store.create(`${root}empty`, Buffer.alloc(0)));
        await revisionOf(store.create(`${root}all`, all));
        expect((await store.get(`${root}empty`))?.value).toEqual(Buffer.alloc(0));
        expect((await store.get(`${root}all`))?.value).toEqual(all);
      });

      it('stores values of 1.5 MB less the request around them, as etcd does by default', async () => {
        const value = Buffer.alloc(1_500_000, 'x');
        const revision = await revisionOf(store.create(`${root}big`, value));
        expect((await store.get(`${root}big`))?.value.equals(value)).toBe(true);
        const recorder = record('', (revision - 1) as Revision);
        const [event] = await recorder.untilEvents(1);
        await recorder.stop();
        expect(event?.type === 'put' && event.value.equals(value)).toBe(true);
      });

      it('stores keys of a thousand bytes', async () => {
        const key = 'k'.repeat(1000);
        await create(key, 'long');
        expect((await store.get(root + key))?.value.toString()).toBe('long');
      });
    });

    describe('concurrent writers', () => {
      it('lets one of many creators win', async () => {
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, index) => store.create(`${root}a`, bytes(`${index}`))),
        );
        const winners = outcomes.filter((outcome) => outcome.ok);
        expect(winners).toHaveLength(1);
        const current = await store.get(`${root}a`);
        for (const outcome of outcomes) if (!outcome.ok) expect(outcome.current).toEqual(current);
      });

      it('lets one of many updaters of one revision win', async () => {
        const first = await create('a', 'start');
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, index) => store.update(`${root}a`, bytes(`${index}`), first)),
        );
        expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
      });

      it('loses no increment of a counter', async () => {
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
        expect(await store.currentRevision()).toBeGreaterThan(0);
      });

      it('is not below any acknowledged write, nor any revision that was read', async () => {
        for (let index = 0; index < 20; index++) {
          const revision = await create(`${index}`);
          expect(await store.currentRevision()).toBeGreaterThanOrEqual(revision);
          const list = await listed(store.list({ prefix: root }));
          expect(await store.currentRevision()).toBeGreaterThanOrEqual(list.revision);
        }
      });

      it('is not below what a reader saw while writers are busy', async () => {
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

    describe('lists', () => {
      it('are empty where nothing is', async () => {
        const outcome = await listed(store.list({ prefix: root }));
        expect(outcome).toMatchObject({ items: [], remaining: 0 });
        expect(outcome.revision).toBeGreaterThan(0);
      });

      it('give keys in bytewise order, also beyond ASCII', async () => {
        const keys = ['a', 'B', '10', '2', 'ä', '😀', '\uffee', 'z', 'a/b', 'a-b', 'a.b', 'aa'];
        for (const key of keys) await create(key);
        const expected = [...keys].sort((left, right) => Buffer.compare(bytes(left), bytes(right)));
        expect(namesOf(await listed(store.list({ prefix: root })))).toEqual(expected);
      });

      it('end at the boundary of their prefix', async () => {
        for (const key of ['pods', 'pods/a', 'pods/b', 'pods0', 'podsx/a', 'pod', 'podr/z']) await create(key);
        expect(namesOf(await listed(store.list({ prefix: `${root}pods/` })))).toEqual(['pods/a', 'pods/b']);
        expect(namesOf(await listed(store.list({ prefix: `${root}pods` })))).toEqual([
          'pods',
          'pods/a',
          'pods/b',
          'pods0',
          'podsx/a',
        ]);
      });

      it('carry values and revisions', async () => {
        const first = await create('a', 'one');
        const second = await create('b', 'two');
        const outcome = await listed(store.list({ prefix: root }));
        expect(outcome.items).toEqual([
          { key: `${root}a`, value: bytes('one'), revision: first },
          { key: `${root}b`, value: bytes('two'), revision: second },
        ]);
        expect(outcome.revision).toBeGreaterThanOrEqual(second);
      });

      it('are cut at the limit, and count what remains', async () => {
        for (const key of ['a', 'b', 'c', 'd', 'e']) await create(key);
        const page = await listed(store.list({ prefix: root, limit: 2 }));
        expect(namesOf(page)).toEqual(['a', 'b']);
        expect(page.remaining).toBe(3);
        const whole = await listed(store.list({ prefix: root, limit: 5 }));
        expect(namesOf(whole)).toHaveLength(5);
        expect(whole.remaining).toBe(0);
      });

      it('page on at a fixed revision, untouched by writes in between', async () => {
        const revisions = new Map<string, Revision>();
        for (const key of ['a', 'b', 'c', 'd', 'e']) revisions.set(key, await create(key));
        const first = await listed(store.list({ prefix: root, limit: 2 }));
        await update('c', 'changed', revisions.get('c')!);
        await remove('d', revisions.get('d')!);
        await create('bb');
        await remove('a', revisions.get('a')!);
        await create('a', 'again');
        const start = `${first.items[1]!.key}\0`;
        const second = await listed(store.list({ prefix: root, start, limit: 2, revision: first.revision }));
        expect(second.items.map((item) => [item.key.slice(root.length), item.value.toString()])).toEqual([
          ['c', 'c'],
          ['d', 'd'],
        ]);
        expect(second).toMatchObject({ remaining: 1, revision: first.revision });
        const third = await listed(
          store.list({ prefix: root, start: `${root}d\0`, limit: 2, revision: first.revision }),
        );
        expect(namesOf(third)).toEqual(['e']);
        expect(third.remaining).toBe(0);
        expect(namesOf(await listed(store.list({ prefix: root })))).toEqual(['a', 'b', 'bb', 'c', 'e']);
      });

      it('start at the start key itself when it exists', async () => {
        for (const key of ['a', 'b', 'b/x', 'c']) await create(key);
        expect(namesOf(await listed(store.list({ prefix: root, start: `${root}b` })))).toEqual(['b', 'b/x', 'c']);
        expect(namesOf(await listed(store.list({ prefix: root, start: `${root}b\0` })))).toEqual(['b/x', 'c']);
      });

      it('are empty when the start lies behind the prefix', async () => {
        await create('a/1');
        await create('b/1');
        expect(namesOf(await listed(store.list({ prefix: `${root}a/`, start: `${root}b/` })))).toEqual([]);
      });

      it('show the state as of every past revision', async () => {
        const states: { readonly revision: Revision; readonly content: string }[] = [];
        const model = new Map<string, { value: string; revision: Revision }>();
        const note = (revision: Revision): void => {
          const content = [...model.keys()]
            .sort()
            .map((key) => `${key}=${model.get(key)!.value}@${model.get(key)!.revision}`);
          states.push({ revision, content: content.join(' ') });
        };
        for (let round = 0; round < 40; round++) {
          const key = `k${(round * 7) % 5}`;
          const known = model.get(key);
          if (known !== undefined && round % 3 === 0) {
            const revision = await remove(key, known.revision);
            model.delete(key);
            note(revision);
          } else {
            const value = `v${round}`;
            const revision = known === undefined ? await create(key, value) : await update(key, value, known.revision);
            model.set(key, { value, revision });
            note(revision);
          }
        }
        for (const { revision, content } of states) {
          const outcome = await listed(store.list({ prefix: root, revision }));
          expect(outcome.revision).toBe(revision);
          expect(
            outcome.items
              .map((item) => `${item.key.slice(root.length)}=${item.value.toString()}@${item.revision}`)
              .join(' '),
          ).toBe(content);
        }
      });

      it('refuse a revision of the future', async () => {
        const current = await create('a');
        const outcome = await store.list({ prefix: root, revision: (current + 1000) as Revision });
        expect(outcome).toEqual({ ok: false, reason: 'future', current: expect.any(Number) });
        expect(outcome.ok ? 0 : outcome.current).toBeGreaterThanOrEqual(current);
      });

      it('give large results whole', async () => {
        const value = Buffer.alloc(100_000, 'x');
        await Promise.all(
          Array.from({ length: 100 }, (_, index) =>
            revisionOf(store.create(`${root}${index.toString().padStart(3, '0')}`, value)),
          ),
        );
        const outcome = await listed(store.list({ prefix: root }));
        expect(outcome.items).toHaveLength(100);
        expect(outcome.items.every((item) => item.value.length === value.length)).toBe(true);
        expect(outcome.remaining).toBe(0);
      });
    });

    describe('watches', () => {
      it('give every event from a past revision on, with the values before', async () => {
        const start = await store.currentRevision();
        const first = await create('a', 'one');
        const second = await update('a', 'two', first);
        const third = await remove('a', second);
        const fourth = await create('a', 'three');
        const recorder = record('', start);
        const events = await recorder.untilEvents(4);
        await recorder.stop();
        expect(events.map(summary)).toEqual([
          `${first} put a=one`,
          `${second} put a=two was one@${first}`,
          `${third} delete a was two@${second}`,
          `${fourth} put a=three`,
        ]);
      });

      it('give the same events to those who know what stood there, with or without it', async () => {
        const start = await create('a', 'one');
        const second = await update('a', 'two', start);
        const removed = await remove('a', second);
        const again = await create('a', 'three');
        const recorder = new WatchRecorder(store, root, start, { needsPrevious: false });
        const events = await recorder.untilEvents(3);
        await recorder.stop();
        expect(events.map(({ previous: _previous, ...event }) => summary({ ...event, previous: undefined }))).toEqual([
          `${second} put a=two`,
          `${removed} delete a`,
          `${again} put a=three`,
        ]);
      });

      it('give events as they are written', async () => {
        const recorder = record('', await store.currentRevision());
        const first = await create('a', 'one');
        expect((await recorder.untilEvents(1)).map(summary)).toEqual([`${first} put a=one`]);
        const second = await update('a', 'two', first);
        expect((await recorder.untilEvents(2)).slice(1).map(summary)).toEqual([`${second} put a=two was one@${first}`]);
        const third = await remove('a', second);
        expect((await recorder.untilEvents(3)).slice(2).map(summary)).toEqual([`${third} delete a was two@${second}`]);
        await recorder.stop();
      });

      it('give only what is behind the revision that was asked for', async () => {
        const first = await create('a', 'one');
        const second = await update('a', 'two', first);
        const recorder = record('', first);
        expect((await recorder.untilEvents(1)).map(summary)).toEqual([`${second} put a=two was one@${first}`]);
        await recorder.stop();
      });

      it('see only their prefix', async () => {
        const start = await store.currentRevision();
        const recorder = record('pods/', start);
        for (const key of ['podsx/a', 'pods', 'pods/a', 'pods0', 'pod/a', 'pods/b']) await create(key);
        await recorder.untilEvents(2);
        await recorder.stop();
        expect(recorder.events.map((event) => event.key.slice(root.length))).toEqual(['pods/a', 'pods/b']);
      });

      it('resume at the revision of any event without loss or repetition', async () => {
        const start = await store.currentRevision();
        for (let index = 0; index < 5; index++) {
          const revision = await create(`k${index}`, 'one');
          await remove(`k${index}`, await update(`k${index}`, 'two', revision));
        }
        const whole = record('', start);
        const events = (await whole.untilEvents(15)).map(summary);
        await whole.stop();
        expect(events).toHaveLength(15);
        for (const [index, event] of whole.events.entries()) {
          if (index === events.length - 1) break;
          const resumed = record('', event.revision);
          expect((await resumed.untilEvents(14 - index)).map(summary)).toEqual(events.slice(index + 1));
          await resumed.stop();
        }
      });

      it('miss, double and reorder nothing while writers are busy, whenever they start', async () => {
        const start = await store.currentRevision();
        const recorders = [record('', start)];
        const writers = Array.from({ length: 4 }, async (_, writer) => {
          for (let index = 0; index < 50; index++) {
            const revision = await create(`${writer}-${index}`);
            if (index % 2 === 0) await remove(`${writer}-${index}`, revision);
            if (index % 10 === writer) recorders.push(record('', start));
          }
        });
        await Promise.all(writers);
        for (const recorder of recorders) {
          const events = await recorder.untilEvents(300);
          await recorder.stop();
          const revisions = events.map((event) => event.revision);
          expect(revisions).toEqual([...new Set(revisions)].sort((left, right) => left - right));
          expect(events.map(summary)).toEqual(recorders[0]!.events.map(summary));
          expect(events).toHaveLength(300);
        }
      });

      it('follow on a list without gap or overlap', async () => {
        const writer = (async () => {
          for (let index = 0; index < 100; index++) await create(index.toString().padStart(3, '0'));
        })();
        await new Promise((resolve) => setTimeout(resolve, 20));
        const list = await listed(store.list({ prefix: root }));
        const recorder = record('', list.revision);
        await writer;
        await recorder.untilEvents(100 - list.items.length);
        await recorder.stop();
        const keys = [...list.items.map((item) => item.key), ...recorder.events.map((event) => event.key)];
        expect(keys).toEqual(Array.from({ length: 100 }, (_, index) => root + index.toString().padStart(3, '0')));
      });

      it('give batches whose revisions rise, cover their events and split no revision', async () => {
        const start = await store.currentRevision();
        const recorder = record('', start);
        await Promise.all(Array.from({ length: 100 }, (_, index) => create(`${index}`)));
        await recorder.untilEvents(100);
        await recorder.stop();
        let reached: number = start;
        for (const batch of recorder.batches) {
          for (const event of batch.events) {
            expect(event.revision).toBeGreaterThan(reached);
            expect(event.revision).toBeLessThanOrEqual(batch.revision);
          }
          expect(batch.revision).toBeGreaterThanOrEqual(reached);
          reached = batch.revision;
        }
      });

      it('wait for a revision that does not exist yet', async () => {
        const current = await create('a');
        const recorder = record('', (current + 2) as Revision);
        await create('b');
        await create('c');
        const seen = await create('d');
        expect((await recorder.untilEvents(1)).map((event) => event.revision)).toEqual([seen]);
        await recorder.stop();
      });

      it('end quietly when they are aborted: before, during and between events', async () => {
        const start = await store.currentRevision();
        const aborted = AbortSignal.abort();
        for await (const batch of store.watch(root, start, aborted)) expect(batch).toBeUndefined();

        const idle = record('', start);
        await new Promise((resolve) => setTimeout(resolve, 20));
        await idle.stop();
        expect(idle.batches).toEqual([]);

        const busy = record('', start);
        await create('a');
        await busy.untilEvents(1);
        await busy.stop();
        await create('b');
        expect(busy.events).toHaveLength(1);
      });

      it('end when their consumer leaves the loop', async () => {
        const start = await store.currentRevision();
        await create('a');
        for await (const batch of store.watch(root, start, new AbortController().signal)) {
          expect(batch.events).toHaveLength(1);
          break;
        }
      });

      it('report their progress on request, also when their prefix is quiet', async () => {
        if (!store.reportsProgress) return;
        const recorder = record('quiet/', await store.currentRevision());
        await create('noise');
        const current = await store.currentRevision();
        await recorder.until(({ batches }) => {
          if (batches.some((batch) => batch.revision >= current)) return true;
          void store.requestProgress();
          return false;
        });
        await recorder.stop();
        expect(recorder.events).toEqual([]);
      });

      it('answer a request for progress without effect on their events', async () => {
        const recorder = record('', await store.currentRevision());
        await store.requestProgress();
        await Promise.all(Array.from({ length: 20 }, (_, index) => create(`${index}`)));
        await store.requestProgress();
        await recorder.untilEvents(20);
        await recorder.stop();
        expect(recorder.events).toHaveLength(20);
      });
    });

    describe('keys with a time to live', () => {
      it('vanish with a delete event that carries what was there', async () => {
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
        const first = await revisionOf(store.create(`${root}kept`, bytes('one'), { ttlSeconds: 1 }));
        await revisionOf(store.create(`${root}gone`, bytes('one'), { ttlSeconds: 1 }));
        await update('kept', 'two', first);
        const recorder = record('gone', first);
        await recorder.untilEvents(2);
        await recorder.stop();
        expect((await store.get(`${root}kept`))?.value.toString()).toBe('two');
      }, 15_000);
    });

    describe('a signal that is aborted', () => {
      it('stops every call with its reason', async () => {
        const revision = await create('a');
        const signal = AbortSignal.abort(new Error('the client left'));
        await expect(store.get(`${root}a`, signal)).rejects.toThrow('the client left');
        await expect(store.list({ prefix: root }, signal)).rejects.toThrow('the client left');
        await expect(store.create(`${root}b`, bytes('b'), {}, signal)).rejects.toThrow('the client left');
        await expect(store.update(`${root}a`, bytes('b'), revision, {}, signal)).rejects.toThrow('the client left');
        await expect(store.delete(`${root}a`, revision, signal)).rejects.toThrow('the client left');
        await expect(store.currentRevision(signal)).rejects.toThrow('the client left');
        expect(await store.get(`${root}b`)).toBeUndefined();
      });
    });

    describe('compaction', () => {
      it('forgets history, and keeps what is alive', async () => {
        const first = await create('a', 'one');
        const second = await update('a', 'two', first);
        const old = await create('old', 'untouched');
        await remove('gone', await create('gone'));
        const third = await update('a', 'three', second);
        const fourth = await update('a', 'four', third);
        await store.compact(third);

        expect(await store.list({ prefix: root, revision: second })).toEqual({
          ok: false,
          reason: 'compacted',
          current: expect.any(Number),
        });
        const at = await listed(store.list({ prefix: root, revision: third }));
        expect(at.items.map((item) => [item.key.slice(root.length), item.value.toString(), item.revision])).toEqual([
          ['a', 'three', third],
          ['old', 'untouched', old],
        ]);
        expect((await store.get(`${root}old`))?.value.toString()).toBe('untouched');
        expect(namesOf(await listed(store.list({ prefix: root })))).toEqual(['a', 'old']);

        const recorder = record('', third);
        expect((await recorder.untilEvents(1)).map(summary)).toEqual([`${fourth} put a=four was three@${third}`]);
        await recorder.stop();
      });

      it('ends watches that start before it with the revision that was compacted', async () => {
        const first = await create('a', 'one');
        const third = await update('a', 'three', await update('a', 'two', first));
        await store.compact(third);
        const error: unknown = await record('', first)
          .end()
          .then(
            () => undefined,
            (reason: unknown) => reason,
          );
        expect(error).toBeInstanceOf(CompactedError);
        expect((error as CompactedError).compactRevision).toBeGreaterThanOrEqual(third);
      });

      it('leaves watches alone that have passed it', async () => {
        const first = await create('a', 'one');
        const recorder = record('', first);
        const second = await update('a', 'two', first);
        await recorder.untilEvents(1);
        await store.compact(second);
        const third = await update('a', 'three', second);
        expect((await recorder.untilEvents(2))[1]!.revision).toBe(third);
        await recorder.stop();
      });

      it('does nothing when it comes again', async () => {
        const first = await create('a', 'one');
        const second = await update('a', 'two', first);
        await store.compact(second);
        await store.compact(second);
        await store.compact(first);
        expect((await store.get(`${root}a`))?.value.toString()).toBe('two');
      });
    });

    describe('health and end', () => {
      it('is healthy while it is open', async () => {
        await expect(store.health()).resolves.toBeUndefined();
      });

      it('ends its open watches when it is closed, and refuses what comes after', async () => {
        const other = await open();
        const recorder = new WatchRecorder(other.store, root, await other.store.currentRevision());
        await new Promise((resolve) => setTimeout(resolve, 20));
        const ended = expect(recorder.end()).rejects.toThrow(StoreClosedError);
        await other.store.close();
        await ended;
        await expect(other.store.get(`${root}a`)).rejects.toThrow(StoreClosedError);
        await expect(other.store.health()).rejects.toThrow(StoreClosedError);
        await other.close();
      }, 30_000);

      it('can be closed twice', async () => {
        const other = await open();
        await other.store.close();
        await other.store.close();
        await other.close();
      }, 30_000);
    });
  });
}
