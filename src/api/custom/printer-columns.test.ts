import { atOnce } from '../parts';
import { filledInParts } from '../fill-later';
import { customTable } from './printer-columns';

const COLUMN = { name: 'Parts', type: 'string', jsonPath: '.spec.parts' };
const metadata = { name: 'a' };

function cellsOf(parts: unknown): readonly unknown[] {
  return customTable([COLUMN]).cells({ metadata, spec: { parts } }, 0);
}

test.each([
  ['a text', 'some words', 'some words'],
  ['a list', ['a', '<b>'], '["a","\\u003cb\\u003e"]'],
  ['a map', { b: 1, a: 2 }, '{"a":2,"b":1}'],
])('a cell shows %s', (_name, parts, shown) => {
  expect(cellsOf(parts)).toEqual(['a', shown]);
});

test.each([
  ['a text', 'x'.repeat(100_000)],
  ['a list', Array.from({ length: 20_000 }, () => 'some words')],
])('of %s of a hundred kilobytes a cell shows the beginning', (_name, parts) => {
  const [, cell] = cellsOf(parts) as readonly string[];
  expect(cell).toHaveLength(16 * 1024 + 3);
  expect(cell?.endsWith('...')).toBe(true);
  expect(atOnce(filledInParts(() => cellsOf(parts)))).toEqual(['a', cell]);
});

test('where a definition has many columns, each cell has its share of the row', () => {
  const table = customTable(Array.from({ length: 64 }, (_, index) => ({ ...COLUMN, name: `Parts ${index}` })));
  const parts = Array.from({ length: 20_000 }, () => 'some <words>');
  const [, ...cells] = table.cells({ metadata, spec: { parts } }, 0) as readonly string[];
  const whole = JSON.stringify(parts).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
  expect(new Set(cells)).toEqual(new Set([`${whole.slice(0, 2048)}...`]));
});
