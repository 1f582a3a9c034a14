import { Turn } from '../async/turn';
import type { CacheEntry } from '../storage/cache/cache';
import { reads } from '../storage/cache/reads';
import { selectNext } from './select';

const entries = Array.from({ length: 1000 }, (_, index) => ({ name: `${index}`, size: 10 }) as CacheEntry);
const { signal } = new AbortController();
const isEven = ({ name }: CacheEntry): boolean => Number(name) % 2 === 0;

describe('selecting entries', () => {
  afterEach(() => jest.restoreAllMocks());

  it('takes what matches, as many as are wanted, and goes on from there', async () => {
    const iterator = entries[Symbol.iterator]();
    const first = await selectNext(iterator, isEven, { entries: 300 }, signal, new Turn());
    const rest = await selectNext(iterator, isEven, { entries: 300 }, signal, new Turn());
    expect([...first, ...rest].map(({ name }) => Number(name))).toEqual(
      Array.from({ length: 500 }, (_, index) => index * 2),
    );
    expect(first).toHaveLength(300);
    expect(await selectNext(iterator, isEven, { entries: 300 }, signal, new Turn())).toEqual([]);
  });

  it('takes no more bytes than are wanted, but for the one that reaches them', async () => {
    const iterator = Array.from({ length: 7 }, () => ({ size: 40 }) as CacheEntry)[Symbol.iterator]();
    const take = async (): Promise<number> =>
      (await selectNext(iterator, undefined, { bytes: 100 }, signal, new Turn())).length;
    expect([await take(), await take(), await take(), await take()]).toEqual([3, 3, 1, 0]);
  });

  it('takes everything where nothing is selected by', async () => {
    expect(await selectNext(entries[Symbol.iterator](), undefined, {}, signal, new Turn())).toEqual(entries);
  });

  it('looks at the clock after each large one that it has parsed', async () => {
    // It stands still: a turn that is over would look once more.
    const looks = jest.spyOn(performance, 'now').mockReturnValue(0);
    const count = async (parsedBytes: number): Promise<number> => {
      const before = looks.mock.calls.length;
      const matches = (): boolean => ((reads.bytes += parsedBytes), false);
      await selectNext(entries.slice(0, 20)[Symbol.iterator](), matches, {}, signal, new Turn());
      return looks.mock.calls.length - before;
    };
    const atStart = await count(0);
    expect((await count(1_000_000)) - atStart).toBe(20);
    expect((await count(4_000)) - atStart).toBe(4);
  });

  it('gives way to others while it looks, and stops when nobody waits any more', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 1));
    const gone = new AbortController();
    let looked = 0;
    const count = (): boolean => (looked++, false);
    const selecting = selectNext(entries[Symbol.iterator](), count, {}, gone.signal, new Turn());
    setImmediate(() => gone.abort(new Error('the client is gone')));
    await expect(selecting).rejects.toThrow('the client is gone');
    expect(looked).toBeGreaterThan(0);
    expect(looked).toBeLessThan(entries.length);
  });
});
