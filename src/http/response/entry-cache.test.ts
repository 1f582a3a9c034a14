import type { CacheEntry } from '../../storage/cache/cache';
import { EntryCache } from './entry-cache';

const entries = Array.from({ length: 100 }, (_, index) => ({ key: `k${index}` }) as unknown as CacheEntry);

describe('EntryCache', () => {
  it('makes the value of an entry once', () => {
    const memo = new EntryCache<string>({ entries: 10, bytes: 1000, sizeOf: ({ length }) => length });
    const make = jest.fn(({ key }: CacheEntry) => key);
    for (let round = 0; round < 3; round++) expect(memo.get(entries[1]!, make)).toBe('k1');
    expect(make).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['entries', { entries: 50, bytes: Infinity }],
    ['bytes', { entries: Infinity, bytes: 50 }],
  ])('keeps no more %s than it may, and still finds a share of a longer list', (_what, limits) => {
    const memo = new EntryCache<string>({ ...limits, sizeOf: () => 1 });
    const make = jest.fn(({ key }: CacheEntry) => key);
    for (let round = 0; round < 10; round++) for (const entry of entries) memo.get(entry, make);
    const made = make.mock.calls.length;
    expect(made).toBeGreaterThan(entries.length);
    expect(made).toBeLessThan(10 * entries.length);
  });

  it('counts a value that takes the place of another instead of it', () => {
    const memo = new EntryCache<string>({ entries: 10, bytes: 100, sizeOf: ({ length }) => length });
    memo.set(entries[1]!, 'x'.repeat(40));
    for (let round = 0; round < 20; round++) {
      memo.set(entries[2]!, String(round).padEnd(60, 'y'));
      expect(memo.find(entries[2]!)).toMatch(new RegExp(`^${round}y`));
    }
    expect(memo.find(entries[1]!)).toHaveLength(40);
    memo.set(entries[2]!, 'y'.repeat(61));
    expect([memo.find(entries[1]!), memo.find(entries[2]!)].filter((value) => value !== undefined)).toHaveLength(1);
  });

  it('keeps nothing that is larger than all it may keep', () => {
    const memo = new EntryCache<string>({ entries: 10, bytes: 100, sizeOf: ({ length }) => length });
    expect(memo.get(entries[1]!, () => 'x'.repeat(101))).toHaveLength(101);
    expect(memo.find(entries[1]!)).toBeUndefined();
  });
});
