import { openTemporaryStore } from '../../test/support/cache-fixture';
import { instrumentStore, type StoreCall } from './instrument-store';
import type { Revision } from './store';

describe('instrumentStore', () => {
  it('reports operation, key, duration and outcome of every request, and changes no answer', async () => {
    await using temporary = await openTemporaryStore();
    const calls: StoreCall[] = [];
    let nowMs = 0;
    const store = instrumentStore(
      temporary.store,
      (call) => calls.push(call),
      () => (nowMs += 500),
    );
    const created = await store.create('/registry/pods/a', Buffer.from('1'));
    expect(created.ok).toBe(true);
    expect(await store.create('/registry/pods/a', Buffer.from('1'))).toMatchObject({ ok: false });
    expect((await store.get('/registry/pods/a'))?.value.toString()).toBe('1');
    expect(await store.list({ prefix: '/registry/pods/', revision: 1_000_000 as Revision })).toMatchObject({
      ok: false,
    });
    await expect(store.health(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    const call = (operation: string, key: string, outcome: string) => ({
      operation,
      key,
      outcome,
      durationSeconds: 0.5,
    });
    expect(calls).toEqual([
      call('create', '/registry/pods/a', 'ok'),
      call('create', '/registry/pods/a', 'rejected'),
      call('get', '/registry/pods/a', 'ok'),
      call('list', '/registry/pods/', 'rejected'),
      call('health', '', 'error'),
    ]);
    expect(store.reportsProgress).toBe(temporary.store.reportsProgress);
  });
});
