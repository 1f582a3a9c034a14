import { parseElement, printElement } from './path-element';

test.each([
  ['f:name', '.name'],
  ['k:{"name":"c","port":80}', '[name="c",port=80]'],
  ['v:"x"', '[="x"]'],
  ['i:0', '[0]'],
])('a message shows %s as %s', (element, shown) => {
  expect(printElement(element)).toBe(shown);
});

test.each([
  ['a text', 'x'],
  ['a map', { a: 'x' }],
  ['a list', ['x']],
])('of an item whose key is %s of megabytes a message shows the beginning', (_name, value) => {
  const text = JSON.stringify({ name: value }).replace('x', 'x'.repeat(3_000_000));
  const shown = printElement(`k:${text}`);
  expect(shown.startsWith('[name=')).toBe(true);
  expect(shown.length).toBeLessThan(40_000);
});

test.each([
  ['i:0', 'i:0'],
  ['i:-1', 'i:-1'],
  ['i:007', 'i:7'],
  ['i:+7', 'i:7'],
])('the index %s is known as %s', (written, element) => {
  expect(parseElement(written)).toBe(element);
});

test.each(['i:', 'i:x', 'i:1.5', `i:${'1'.repeat(1_000_000)}`])('%.20s... is no index', (written) => {
  expect(() => parseElement(written)).toThrow(SyntaxError);
});

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

test.each([
  ['a list', (count: number) => `v:${JSON.stringify(numbers(count))}`],
  ['a map', (count: number) => `v:${JSON.stringify(Object.fromEntries(numbers(count).map((n) => [`a${n}`, n])))}`],
  ['keys', (count: number) => `k:${JSON.stringify(Object.fromEntries(numbers(count).map((n) => [`a${n}`, n])))}`],
])('an element may be %s of some values, not of many', (_name, element) => {
  expect(parseElement(element(100))).toBeDefined();
  expect(() => parseElement(element(300))).toThrow('a path element has more than 256 values');
});

test('what a text of an element consists of counts as one value', () => {
  const keys = `k:{"name":${JSON.stringify('{[,"'.repeat(1_000))}}`;
  expect(parseElement(keys)).toBe(keys);
});
