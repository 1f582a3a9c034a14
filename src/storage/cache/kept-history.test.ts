import type { ListOutcome, ListRange, Revision } from '../store';
import { KeptHistory } from './kept-history';

let nowMs = 0;
let compacted = 0;
let asked: ListRange[] = [];

const store = {
  list: async (range: ListRange): Promise<ListOutcome> => {
    asked.push(range);
    const revision = range.revision as Revision;
    return revision < compacted
      ? { ok: false, reason: 'compacted', current: 100 as Revision }
      : { ok: true, revision, items: [], remaining: 0 };
  },
};

let kept: KeptHistory;
const has = (revision: number): Promise<boolean> => kept.has(revision as Revision, undefined);

beforeEach(() => {
  nowMs = compacted = 0;
  asked = [];
  kept = new KeptHistory(store, '/registry/', () => nowMs);
});

describe('whether the store has a state', () => {
  it('is asked once a second, for the oldest state in use, with a range that holds nothing', async () => {
    for (nowMs = 0; nowMs < 2_000; nowMs += 100) expect([await has(7), await has(9)]).toEqual([true, true]);
    expect(asked).toEqual(Array(2).fill({ prefix: '/registry/\0', limit: 1, revision: 7 }));
  });

  it('is asked for each older state, as a newer one says nothing of it', async () => {
    compacted = 8;
    expect([await has(9), await has(7), await has(9)]).toEqual([true, false, true]);
    expect(asked).toHaveLength(2);
  });

  it('ends when the store has compacted it', async () => {
    expect(await has(7)).toBe(true);
    compacted = 8;
    nowMs = 1_000;
    expect([await has(7), await has(7)]).toEqual([false, false]);
  });

  it('is not answered while the store does not', async () => {
    const failing = new KeptHistory({ list: () => Promise.reject(new Error('unreachable')) }, '/registry/', () => 0);
    await expect(failing.has(7 as Revision, undefined)).rejects.toThrow('unreachable');
  });
});
