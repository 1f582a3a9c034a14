import type { CacheEntry } from '../storage/cache/cache';
import { listPieces, type ItemForm } from './list-parts';

const numbers: ItemForm = {
  separator: Buffer.from(','),
  shared: true,
  atOnce: 200,
  pieces: (entries, from, to) => [
    Buffer.from(
      entries
        .slice(from, to)
        .map(({ name }) => name)
        .join(),
    ),
  ],
};
const entriesOf = (count: number): CacheEntry[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${i}` }) as CacheEntry);
const textOf = (pieces: Iterable<readonly Uint8Array[]>): string => Buffer.concat([...pieces].flat()).toString();

describe('the pieces of a list', () => {
  it.each([0, 1, 199, 200, 201, 400, 1001])(
    'hold %d items once each, in order, with separators between them',
    (count) => {
      const entries = entriesOf(count);
      const pieces = listPieces({ head: Buffer.from('['), items: numbers, entries, tail: Buffer.from(']') });
      expect(JSON.parse(textOf(pieces))).toEqual(entries.map((_, index) => index));
    },
  );

  it('are made as they are asked for', () => {
    const made = jest.spyOn(numbers, 'pieces');
    const [head] = listPieces({
      head: Buffer.from('['),
      items: numbers,
      entries: entriesOf(1000),
      tail: Buffer.from(']'),
    });
    expect(head).toEqual([Buffer.from('[')]);
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });

  it('begin with a head that says how long the items are, where it has to', () => {
    const head = (length: number): Buffer => Buffer.from(`${length}:`);
    const pieces = listPieces({ head, items: numbers, entries: entriesOf(300), tail: Buffer.from('.') });
    const items = entriesOf(300)
      .map(({ name }) => name)
      .join();
    expect(textOf(pieces)).toBe(`${items.length}:${items}.`);
  });
});
