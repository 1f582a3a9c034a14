import { printElement } from './path-element';

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
