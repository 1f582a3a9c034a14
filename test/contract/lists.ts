import type { Revision } from '../../src/storage/store';
import { bytes, listed, revisionOf, type TestRegistry } from './test-registry';

/** What a store promises of lists: their order, their pages, and the past that they can show. */
export function describeLists(newRegistry: () => TestRegistry): void {
  describe('lists', () => {
    it('are empty where nothing is', async () => {
      const { store, root } = newRegistry();
      const outcome = await listed(store.list({ prefix: root }));
      expect(outcome).toMatchObject({ items: [], remaining: 0 });
      expect(outcome.revision).toBeGreaterThan(0);
    });

    it('give keys in bytewise order, also beyond ASCII', async () => {
      const { store, root, create, namesOf } = newRegistry();
      const keys = ['a', 'B', '10', '2', 'ä', '😀', '\uffee', 'z', 'a/b', 'a-b', 'a.b', 'aa'];
      for (const key of keys) await create(key);
      const expected = [...keys].sort((left, right) => Buffer.compare(bytes(left), bytes(right)));
      expect(namesOf(await listed(store.list({ prefix: root })))).toEqual(expected);
    });

    it('end at the boundary of their prefix', async () => {
      const { store, root, create, namesOf } = newRegistry();
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
      const { store, root, create } = newRegistry();
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
      const { store, root, create, namesOf } = newRegistry();
      for (const key of ['a', 'b', 'c', 'd', 'e']) await create(key);
      const page = await listed(store.list({ prefix: root, limit: 2 }));
      expect(namesOf(page)).toEqual(['a', 'b']);
      expect(page.remaining).toBe(3);
      const whole = await listed(store.list({ prefix: root, limit: 5 }));
      expect(namesOf(whole)).toHaveLength(5);
      expect(whole.remaining).toBe(0);
    });

    it('page on at a fixed revision, untouched by writes in between', async () => {
      const { store, root, create, update, remove, namesOf } = newRegistry();
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
      const third = await listed(store.list({ prefix: root, start: `${root}d\0`, limit: 2, revision: first.revision }));
      expect(namesOf(third)).toEqual(['e']);
      expect(third.remaining).toBe(0);
      expect(namesOf(await listed(store.list({ prefix: root })))).toEqual(['a', 'b', 'bb', 'c', 'e']);
    });

    it('start at the start key itself when it exists', async () => {
      const { store, root, create, namesOf } = newRegistry();
      for (const key of ['a', 'b', 'b/x', 'c']) await create(key);
      expect(namesOf(await listed(store.list({ prefix: root, start: `${root}b` })))).toEqual(['b', 'b/x', 'c']);
      expect(namesOf(await listed(store.list({ prefix: root, start: `${root}b\0` })))).toEqual(['b/x', 'c']);
    });

    it('are empty when the start lies behind the prefix', async () => {
      const { store, root, create, namesOf } = newRegistry();
      await create('a/1');
      await create('b/1');
      expect(namesOf(await listed(store.list({ prefix: `${root}a/`, start: `${root}b/` })))).toEqual([]);
    });

    it('show the state as of every past revision', async () => {
      const { store, root, create, update, remove } = newRegistry();
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
      const { store, root, create } = newRegistry();
      const current = await create('a');
      const outcome = await store.list({ prefix: root, revision: (current + 1000) as Revision });
      expect(outcome).toEqual({ ok: false, reason: 'future', current: expect.any(Number) });
      expect(outcome.ok ? 0 : outcome.current).toBeGreaterThanOrEqual(current);
    });

    it('give large results whole', async () => {
      const { store, root } = newRegistry();
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
}
