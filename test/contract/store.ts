import { StoreClosedError, type Store } from '../../src/storage/store';
import { describeCompaction } from './compaction';
import { describeKeys } from './keys';
import { describeLists } from './lists';
import { bytes, newTestRegistry, type TestRegistry } from './test-registry';
import { WatchRecorder } from './watch-recorder';
import { describeWatches } from './watches';

export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and whatever was started for it. */
  close(): Promise<void>;
}

/** Runs every promise of the Store seam as a test against the stores that `open` gives. */
export function describeStore(name: string, open: () => Promise<OpenedStore>): void {
  describe(`${name} keeps the promises of a store:`, () => {
    let opened: OpenedStore;

    beforeAll(async () => {
      opened = await open();
    }, 30_000);

    afterAll(async () => {
      await opened.close();
    });

    // Every test has a registry of its own, so that they share one store.
    const newRegistry = (): TestRegistry => newTestRegistry(opened.store);

    describeKeys(newRegistry);
    describeLists(newRegistry);
    describeWatches(newRegistry);
    describeCompaction(newRegistry);

    describe('a signal that is aborted', () => {
      it('stops every call with its reason', async () => {
        const { store, root, create } = newRegistry();
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

    describe('health and end', () => {
      it('is healthy while it is open', async () => {
        await expect(opened.store.health()).resolves.toBeUndefined();
      });

      it('ends its open watches when it is closed, and refuses what comes after', async () => {
        const other = await open();
        const { root } = newTestRegistry(other.store);
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
