import type { Revision } from '../../src/storage/store';
import { listed, type TestRegistry } from './test-registry';
import { WatchRecorder } from './watch-recorder';

/** What a store promises of watches: they miss, double and reorder nothing, and end when they are told. */
export function describeWatches(newRegistry: () => TestRegistry): void {
  describe('watches', () => {
    it('give every event from a past revision on, with the values before', async () => {
      const { store, create, update, remove, record, summary } = newRegistry();
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
      const { store, root, create, update, remove, summary } = newRegistry();
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
      const { store, create, update, remove, record, summary } = newRegistry();
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
      const { create, update, record, summary } = newRegistry();
      const first = await create('a', 'one');
      const second = await update('a', 'two', first);
      const recorder = record('', first);
      expect((await recorder.untilEvents(1)).map(summary)).toEqual([`${second} put a=two was one@${first}`]);
      await recorder.stop();
    });

    it('see only their prefix', async () => {
      const { store, root, create, record } = newRegistry();
      const start = await store.currentRevision();
      const recorder = record('pods/', start);
      for (const key of ['podsx/a', 'pods', 'pods/a', 'pods0', 'pod/a', 'pods/b']) await create(key);
      await recorder.untilEvents(2);
      await recorder.stop();
      expect(recorder.events.map((event) => event.key.slice(root.length))).toEqual(['pods/a', 'pods/b']);
    });

    it('resume at the revision of any event without loss or repetition', async () => {
      const { store, create, update, remove, record, summary } = newRegistry();
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
      const { store, create, remove, record, summary } = newRegistry();
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
      const { store, root, create, record } = newRegistry();
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
      const { store, create, record } = newRegistry();
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
      const { create, record } = newRegistry();
      const current = await create('a');
      const recorder = record('', (current + 2) as Revision);
      await create('b');
      await create('c');
      const seen = await create('d');
      expect((await recorder.untilEvents(1)).map((event) => event.revision)).toEqual([seen]);
      await recorder.stop();
    });

    it('end quietly when they are aborted: before, during and between events', async () => {
      const { store, root, create, record } = newRegistry();
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
      const { store, root, create } = newRegistry();
      const start = await store.currentRevision();
      await create('a');
      for await (const batch of store.watch(root, start, new AbortController().signal)) {
        expect(batch.events).toHaveLength(1);
        break;
      }
    });

    it('report their progress on request, also when their prefix is quiet', async () => {
      const { store, create, record } = newRegistry();
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
      const { store, create, record } = newRegistry();
      const recorder = record('', await store.currentRevision());
      await store.requestProgress();
      await Promise.all(Array.from({ length: 20 }, (_, index) => create(`${index}`)));
      await store.requestProgress();
      await recorder.untilEvents(20);
      await recorder.stop();
      expect(recorder.events).toHaveLength(20);
    });
  });
}
