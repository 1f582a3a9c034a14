import { gunzipSync } from 'node:zlib';
import type { CacheEntry } from '../../../../storage/cache/cache';
import { DeflatedChunks } from './deflated-chunks';
import { GzipFile } from './gzip-file';
import type { ItemForm } from '../item-form';

/** Items are their entries' bodies; counts how often they are asked for. */
function form(): { items: ItemForm; asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    items: {
      separator: Buffer.from(','),
      shared: true,
      joinable: false,
      atOnce: 200,
      weight: 1,
      pieces: (entries, from, to) => {
        asked++;
        return entries.slice(from, to).flatMap(({ body }, index) => (index === 0 ? [body] : [Buffer.from(','), body]));
      },
    },
  };
}

const entryOf = (text: string): CacheEntry => ({ key: text, revision: 1, body: Buffer.from(text) }) as CacheEntry;
const entries = Array.from({ length: 100 }, (_, index) => entryOf(`entry ${index}`));
const MIB = 1024 * 1024;

describe('DeflatedChunks', () => {
  it('compresses a run once, and at once gives what is remembered', async () => {
    const { items, asked } = form();
    const runs = new DeflatedChunks(MIB);
    const first = await runs.get(items, entries, 10, 20);
    expect(runs.get(items, [...entries], 10, 20)).toBe(first);
    expect(runs.get(items, entries.slice(10), 0, 10)).toBe(first);
    expect(asked()).toBe(1);
  });

  it('has the items in it', async () => {
    const file = new GzipFile();
    const run = await new DeflatedChunks(MIB).get(form().items, entries, 1, 4);
    const zipped = Buffer.concat([file.head(), file.part(run), file.tail()]);
    expect(gunzipSync(zipped).toString()).toBe('entry 1,entry 2,entry 3');
  });

  it('shares one compression between those who ask at the same time', async () => {
    const { items, asked } = form();
    const runs = new DeflatedChunks(MIB);
    const responses = await Promise.all([1, 2, 3].map(async () => runs.get(items, entries, 0, 50)));
    expect(new Set(responses).size).toBe(1);
    expect(asked()).toBe(1);
  });

  it.each<[string, (items: ItemForm) => [ItemForm, CacheEntry[], number, number]]>([
    ['an entry has changed', (items) => [items, entries.with(15, entryOf('entry 15')), 10, 20]],
    ['an entry is missing', (items) => [items, entries.toSpliced(15, 1), 10, 20]],
    ['it ends earlier', (items) => [items, entries, 10, 19]],
    ['it ends later', (items) => [items, entries, 10, 21]],
    ['it is written in another form', () => [form().items, entries, 10, 20]],
  ])('takes no run for another: %s', async (_what, other) => {
    const { items } = form();
    const runs = new DeflatedChunks(MIB);
    const first = await runs.get(items, entries, 10, 20);
    const second = await runs.get(...other(items));
    expect(second).not.toBe(first);
    expect(runs.get(...other(items))).not.toBe(first);
  });

  it('remembers the runs of two kinds of lists that begin with one entry', async () => {
    const { items, asked } = form();
    const runs = new DeflatedChunks(MIB);
    const selected = entries.filter((_, index) => index % 2 === 0);
    for (let round = 0; round < 3; round++) {
      await runs.get(items, entries, 0, 20);
      await runs.get(items, selected, 0, 20);
    }
    expect(asked()).toBe(2);
  });

  it('keeps no more bytes than it may', async () => {
    const { items, asked } = form();
    const runs = new DeflatedChunks(2000);
    const askAll = async (): Promise<void> => {
      for (let from = 0; from < 100; from += 10) await runs.get(items, entries, from, from + 10);
    };
    await askAll();
    await askAll();
    expect(asked()).toBeGreaterThan(10);
  });

  it('tells all who wait that a run could not be made, and tries again for the next', async () => {
    const { items } = form();
    const pieces = jest.spyOn(items, 'pieces').mockImplementationOnce(() => {
      throw new Error('no such conversion');
    });
    const runs = new DeflatedChunks(MIB);
    const waiting = [runs.get(items, entries, 0, 10), runs.get(items, entries, 0, 10)];
    for (const response of waiting) await expect(response).rejects.toThrow('no such conversion');
    await expect(runs.get(items, entries, 0, 10)).resolves.toMatchObject({ length: 79 });
    expect(pieces).toHaveBeenCalledTimes(2);
  });
});
