import fc from 'fast-check';
import type { CacheEntry } from '../../../storage/cache/cache';
import { listPieces } from './list-parts';
import { COMPACT_JSON, PRETTY_JSON, textList, YAML } from './text-list';

const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'items: []',
    '"items":[]',
    '\nitems: []\n',
    'a b '.repeat(40),
    'line\nline',
    '- x',
    '[]',
    '\u{1F600}',
  ),
);
const { data } = fc.letrec((tie) => ({
  data: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('data'), { maxLength: 3 }),
    fc.dictionary(text, tie('data'), { maxKeys: 4 }),
  ),
}));

describe.each([
  ['compact JSON', COMPACT_JSON],
  ['indented JSON', PRETTY_JSON],
  ['YAML', YAML],
])('a list whose items are printed one by one as %s', (_name, layout) => {
  it('reads as if it had been printed as a whole', () => {
    fc.assert(
      fc.property(
        fc.array(data, { maxLength: 40 }),
        data,
        fc.constantFrom('items', 'rows'),
        (items, metadata, member) => {
          const list = { kind: 'List', apiVersion: 'v1', metadata };
          const entries = items.map((object) => ({ object, body: Buffer.alloc(0) }) as unknown as CacheEntry);
          const parts = textList(layout, { ...list, [member]: [] }, member, entries, ({ object }) => object);
          const body = Buffer.concat([...listPieces(parts)].flat()).toString();
          expect(body).toBe(layout.print({ ...list, [member]: items }));
        },
      ),
    );
  });
});
