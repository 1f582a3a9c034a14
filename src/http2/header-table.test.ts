import fc from 'fast-check';
import { FIELD_OVERHEAD_BYTES, HeaderField, HeaderTable, judged, staticTable } from './header-table';
import { Http2Error } from './http2-error';

const FIRST_DYNAMIC = 62;

describe('a table of header fields', () => {
  it('begins with the 61 static ones', () => {
    const table = new HeaderTable(0);
    expect(staticTable).toHaveLength(FIRST_DYNAMIC - 1);
    expect(table.get(2)).toMatchObject({ name: ':method', value: 'GET' });
    expect(table.get(61)).toMatchObject({ name: 'www-authenticate', value: '' });
    for (const index of [0, FIRST_DYNAMIC]) expect(() => table.get(index)).toThrow(Http2Error);
  });

  it('has the newest fields that there is room for, the newest first', () => {
    const field = fc
      .tuple(fc.string({ maxLength: 30 }), fc.string({ maxLength: 60 }))
      .map(([name, value]) => new HeaderField(name, value));
    const step = fc.oneof(field, fc.record({ limit: fc.nat(400) }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const table = new HeaderTable(400);
        let limit = 400;
        let expected: HeaderField[] = [];
        for (const one of steps) {
          if ('limit' in one) table.resize((limit = one.limit));
          else {
            table.add(one);
            expected.unshift(one);
          }
          let bytes = 0;
          const fits = expected.findIndex((each) => (bytes += each.bytes) > limit);
          if (fits >= 0) expected = expected.slice(0, fits);
          expected.forEach((each, index) => expect(table.get(FIRST_DYNAMIC + index)).toBe(each));
          expect(() => table.get(FIRST_DYNAMIC + expected.length)).toThrow(Http2Error);
        }
      }),
    );
  });

  it('is emptied by a field that is larger than itself', () => {
    const table = new HeaderTable(2 * FIELD_OVERHEAD_BYTES);
    table.add(new HeaderField('a', 'b'));
    table.add(new HeaderField('c', 'd'.repeat(2 * FIELD_OVERHEAD_BYTES)));
    expect(() => table.get(FIRST_DYNAMIC)).toThrow(Http2Error);
  });

  it('judges each of its fields once, however often it is asked for', () => {
    const table = new HeaderTable(4096);
    table.add(new HeaderField('x'.repeat(1_000), 'y'.repeat(1_000)));
    const before = { ...judged };
    for (let asked = 0; asked < 100; asked++) {
      const field = table.get(FIRST_DYNAMIC);
      expect(field.isWellFormed).toBe(true);
      expect(new HeaderField(field.name, '', field).hasGoodName).toBe(true);
    }
    expect(judged).toEqual({ names: before.names + 1, values: before.values + 1 });
  });

  it('refuses to be larger than was agreed', () => {
    expect(() => new HeaderTable(100).resize(101)).toThrow('larger than we allow');
  });
});
