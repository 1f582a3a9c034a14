import type { Revision } from '../store';
import { RevisionWaiters } from './revision-waiters';

const at = (n: number): Revision => n as Revision;

describe('RevisionWaiters', () => {
  it('wakes those whose revision is reached, and only those', async () => {
    const waiters = new RevisionWaiters();
    const woken: number[] = [];
    for (const revision of [5, 3, 9, 5]) void waiters.wait(at(revision), 10_000).then(() => woken.push(revision));
    waiters.advance(at(4));
    await Promise.resolve();
    expect(woken).toEqual([3]);
    waiters.advance(at(5));
    await Promise.resolve();
    expect(woken).toEqual([3, 5, 5]);
    expect(waiters.size).toBe(1);
    waiters.close();
    await Promise.resolve();
    expect(waiters.size).toBe(0);
  });

  it('answers false when the time is over, and leaves nothing behind', async () => {
    const waiters = new RevisionWaiters();
    expect(await waiters.wait(at(5), 5)).toBe(false);
    expect(await waiters.wait(at(5), 0)).toBe(false);
    expect(waiters.size).toBe(0);
  });

  it('rejects with the reason of the signal', async () => {
    const waiters = new RevisionWaiters();
    const controller = new AbortController();
    const waiting = waiters.wait(at(5), 10_000, controller.signal);
    controller.abort(new Error('the client is gone'));
    await expect(waiting).rejects.toThrow('the client is gone');
    await expect(waiters.wait(at(5), 10_000, controller.signal)).rejects.toThrow('the client is gone');
    expect(waiters.size).toBe(0);
  });
});
