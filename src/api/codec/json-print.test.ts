import { atOnce, type Steps } from '../parts';
import { printJson, type PrintedJson } from './json-print';

function print(value: object): PrintedJson & { readonly steps: number } {
  const steps: Steps<PrintedJson> = printJson(value);
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { ...step.value, steps: count };
  }
}

const many = <T>(make: (index: number) => T): T[] => Array.from({ length: 1_000 }, (_, index) => make(index));
const map = (make: (index: number) => unknown): object =>
  Object.fromEntries(many((index) => [`k"${index}`, make(index)]));

test.each<[string, object]>([
  ['small', { a: 1, b: [null, 'é', { c: true }] }],
  ['a long list', { list: many((index) => index) }],
  ['a long map', map((index) => String(index))],
  ['long lists in long lists', { list: many((index) => ({ index, list: index % 100 === 0 ? many(String) : [] })) }],
  ['text of many bytes', { list: many(() => '\u20ac'.repeat(100)) }],
  ['containers without members', { list: many((index) => (index % 2 === 0 ? [] : {})), inner: { text: 'a\nb' } }],
  ['a key called __proto__', JSON.parse(`{"__proto__":{"list":${JSON.stringify(many(String))}}}`) as object],
])('prints %s as JSON.stringify does, and says that it is plain', (_, value) => {
  const { bytes, isPlain } = print(value);
  expect(bytes.toString()).toBe(JSON.stringify(value));
  expect(isPlain).toBe(true);
  expect(atOnce(printJson(value, '', 2)).bytes.toString()).toBe(JSON.stringify(value, null, 2));
});

test.each<[string, object]>([
  ['an undefined member', { a: undefined, list: many(String) }],
  ['only undefined members', { inner: map(() => undefined) }],
  ['undefined in a list', { list: many((index) => (index === 500 ? undefined : index)) }],
  ['an instance of a class', { list: many((index) => (index === 500 ? new Date(0) : index)) }],
  ['what is no number', { list: many((index) => index / index) }],
])('says that a value with %s is not what reading gives', (_, value) => {
  const { bytes, isPlain } = print(value);
  expect(bytes.toString()).toBe(JSON.stringify(value));
  expect(isPlain).toBe(false);
});

test('takes a step for each member of what is long', () => {
  expect(print({ list: many((index) => ({ index })) }).steps).toBeGreaterThan(1_000);
  expect(print({ inner: map((index) => index) }).steps).toBeGreaterThan(1_000);
});
