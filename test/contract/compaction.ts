import { CompactedError } from '../../src/storage/store';
import { listed, type TestRegistry } from './test-registry';

/** What a store promises of the history that it forgets. */
export function describeCompaction(newRegistry: () => TestRegistry): void {
  describe('compaction', () => {
    it('forgets history, and keeps what is alive', async () => {
      const { store, root, create, update, remove, record, namesOf, summary } = newRegistry();
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
      const { store, create, update, record } = newRegistry();
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
      const { store, create, update, record } = newRegistry();
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
      const { store, root, create, update } = newRegistry();
      const first = await create('a', 'one');
      const second = await update('a', 'two', first);
      await store.compact(second);
      await store.compact(second);
      await store.compact(first);
      expect((await store.get(`${root}a`))?.value.toString()).toBe('two');
    });
  });
}
