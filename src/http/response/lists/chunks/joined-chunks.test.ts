import type { CacheEntry } from '../../../../storage/cache/cache';
import { eachItem } from '../list-parts';
import { JoinedChunks } from './joined-chunks';

const COMMA = Buffer.from(',');
const MIB = 1024 * 1024;
const entryOf = (text: string): CacheEntry => ({ key: text, revision: 1, body: Buffer.from(text) }) as CacheEntry;
const entries = Array.from({ length: 100 }, (_, index) => entryOf(`entry ${index}`));
const bodies = () => eachItem(COMMA, true, ({ body }) => [body]);

describe('JoinedChunks', () => {
  it('joins a run when it is asked for the sixteenth time, and gives the same from then on', () => {
    const items = bodies();
    const runs = new JoinedChunks(MIB);
    for (let time = 1; time <= 15; time++) expect(runs.get(items, entries, 1, 4)).toBeUndefined();
    expect(runs.find(items, entries, 1, 4)).toBeUndefined();
    const joined = runs.get(items, entries, 1, 4);
    expect(joined?.toString()).toBe('entry 1,entry 2,entry 3');
    expect(runs.find(items, entries, 1, 4)).toBe(joined);
    const pieces = jest.spyOn(items, 'pieces');
    expect(runs.get(items, [...entries], 1, 4)).toBe(joined);
    expect(runs.get(items, entries.slice(1), 0, 3)).toBe(joined);
    expect(pieces).not.toHaveBeenCalled();
  });

  it('does not count who only looks', () => {
    const items = bodies();
    const runs = new JoinedChunks(MIB);
    for (let time = 1; time <= 20; time++) {
      runs.find(items, entries, 1, 4);
      if (time <= 15) expect(runs.get(items, entries, 1, 4)).toBeUndefined();
    }
    expect(runs.get(items, entries, 1, 4)).toBeDefined();
  });

  it('takes no run for another', () => {
    const items = bodies();
    const runs = new JoinedChunks(MIB);
    for (let time = 1; time <= 16; time++) runs.get(items, entries, 1, 4);
    expect(runs.get(bodies(), entries, 1, 4)).toBeUndefined();
    expect(runs.get(items, entries, 1, 5)).toBeUndefined();
    expect(runs.get(items, entries.with(2, entryOf('entry 2')), 1, 4)).toBeUndefined();
  });

  it('keeps no more bytes than it may', () => {
    const items = bodies();
    const runs = new JoinedChunks(3000);
    const askAll = (): number => {
      let joined = 0;
      for (let from = 0; from < 100; from += 10) if (runs.get(items, entries, from, from + 10) !== undefined) joined++;
      return joined;
    };
    for (let round = 0; round < 50; round++) expect(askAll()).toBeLessThan(10);
  });
});
