import fc from 'fast-check';
import type { CacheEntry } from '../../../storage/cache/cache';
import type { ItemForm } from './item-form';
import { eachItem, listPieces } from './list-parts';
import { JoinedChunks } from './chunks/joined-chunks';

const numbers: ItemForm = {
  separator: Buffer.from(','),
  shared: true,
  joinable: false,
  atOnce: 200,
  weight: 1,
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

describe('a list that is asked for again and again', () => {
  const COMMA = Buffer.from(',');
  let revision = 1000;
  const entryOf = (bytes: number): CacheEntry =>
    ({ revision: revision++, body: Buffer.alloc(bytes, String(revision)) }) as unknown as CacheEntry;
  const items: ItemForm = { ...eachItem(COMMA, true, ({ body }) => [body]), joinable: true };
  const head = (length: number): Buffer => Buffer.from(`${length}:`);

  it('has the same bytes each time, joined or not, whatever changes in between', () => {
    const change = fc.record({
      at: fc.nat(299),
      what: fc.constantFrom('nothing', 'change', 'add', 'delete', 'select'),
    });
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1000, max: 9000 }), { minLength: 100, maxLength: 300 }),
        fc.array(change, { minLength: 5, maxLength: 30 }),
        (sizes, changes) => {
          const runs = new JoinedChunks(2 ** 22, 1);
          let entries = sizes.map(entryOf);
          for (const { at, what } of changes) {
            let listed = entries;
            if (what === 'change' && at < entries.length) listed = entries = entries.with(at, entryOf(500));
            if (what === 'add') listed = entries = entries.toSpliced(at, 0, entryOf(500));
            if (what === 'delete') listed = entries = entries.toSpliced(at, 1);
            if (what === 'select') listed = entries.filter((_, index) => index % 2 === at % 2);
            const body = listed.map(({ body: text }) => text.toString()).join();
            const pieces = listPieces({ head, items, entries: listed, tail: Buffer.from('.') }, runs);
            expect(textOf(pieces) === `${body.length}:${body}.`).toBe(true);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it.each([
    ['short', 20, 18],
    ['neither short nor long', 400, 16],
    ['long', 9000, 18],
  ])(
    'is put together from its items each time where it is short or long, otherwise sixteen times: %s',
    (_what, count, times) => {
      const runs = new JoinedChunks(2 ** 24);
      const entries = Array.from({ length: count }, () => entryOf(1500));
      const pieces = jest.spyOn(items, 'pieces');
      const lastOf = (): number => pieces.mock.calls.filter(([listed, , to]) => to === listed.length).length;
      for (let round = 0; round < 18; round++) textOf(listPieces({ head: COMMA, items, entries, tail: COMMA }, runs));
      expect(lastOf()).toBe(times);
      pieces.mockRestore();
    },
  );
});
