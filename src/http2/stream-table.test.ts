import fc from 'fast-check';
import { StreamTable } from './stream-table';

describe('a table of streams', () => {
  it('has those that were added and not deleted, in order', () => {
    const step = fc.oneof(fc.record({ add: fc.integer({ min: 1, max: 3 }) }), fc.record({ delete: fc.nat(40) }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const table = new StreamTable<{ readonly id: number }>();
        const expected = new Map<number, { readonly id: number }>();
        let last = 0;
        for (const one of steps) {
          if ('add' in one) {
            const stream = { id: (last += one.add) };
            table.add(stream);
            expected.set(stream.id, stream);
          } else {
            expect(table.delete(one.delete)).toBe(expected.delete(one.delete));
          }
          expect([...table]).toEqual([...expected.values()]);
          expect(table.size).toBe(expected.size);
        }
        for (let id = 0; id <= last + 1; id++) expect(table.get(id)).toBe(expected.get(id));
        expect(table.takeAll()).toEqual([...expected.values()]);
        expect(table.size).toBe(0);
      }),
    );
  });
});
