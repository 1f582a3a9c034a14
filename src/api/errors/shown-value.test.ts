import { counted, mostReads } from '../steps/counted.fixture';
import { documentDoesNotFit, strategicPatchRefused } from '../patch/misfit';
import { byteListLiteral, stringListLiteral, stringMapLiteral } from '../validation/go-literal';
import { invalid, notSupported } from './field-error';
import { quoteGo } from './go-quote';
import { badRequest, forbidden, invalidObject, MAX_PROBLEMS_LENGTH } from './status-error';
import { MAX_SHOWN_LENGTH, shownPart } from './shown-value';

const COUNT = 100_000;
const text = 'a'.repeat(3_000_000);
const list = Array.from({ length: COUNT }, (_, index) => `name-${index}`);
const map = Object.fromEntries(list.map((name) => [name, 'value']));

function readsOf(work: () => unknown): number {
  // eslint-disable-next-line require-yield
  const steps = function* (): Generator<void, void, void> {
    work();
  };
  return mostReads(steps());
}

test('a value is shown as it is while there is room for it', () => {
  const value = { b: [1n, 'x', null, { c: true }], a: 'y'.repeat(1_000) };
  expect(shownPart(value)).toBe(value);
  expect(invalid('spec', value.a, 'is wrong').message).toBe(`Invalid value: "${value.a}": is wrong`);
});

test.each<[string, () => string]>([
  ['a text', () => invalid('a', text, 'is wrong').message],
  ['a text of what has to be escaped', () => notSupported('a', '\u0001'.repeat(3_000_000), []).message],
  ["a text in Go's quotation marks", () => quoteGo('"'.repeat(3_000_000))],
  ['a list', () => invalid('a', list, 'is wrong').message],
  ['a map with a long key', () => invalid('a', { [text]: text }, 'is wrong').message],
  ['a list of texts', () => stringListLiteral('[]string', list)],
  ['a map of texts', () => stringMapLiteral(map)],
  ['bytes', () => byteListLiteral('[]byte', Buffer.from(text))],
  ['a document', () => documentDoesNotFit({ data: map }, 'is wrong').status.message as string],
  ['a patch', () => strategicPatchRefused({ data: map }, 'is wrong').status.message as string],
])('of megabytes a message shows the beginning: %s', (_, print) => {
  const message = print();
  expect(message.length).toBeGreaterThan(MAX_SHOWN_LENGTH / 8);
  expect(message.length).toBeLessThan(8 * MAX_SHOWN_LENGTH);
});

test.each<[string, (data: typeof map) => unknown]>([
  ['validation', (data) => invalid('a', data, 'is wrong')],
  ['a document that does not fit', (data) => documentDoesNotFit({ data }, 'is wrong')],
  ['a patch that does not fit', (data) => strategicPatchRefused({ data }, 'is wrong')],
])('no more is read than what is shown: %s', (_, refuse) => {
  const data = counted(map);
  const reads = readsOf(() => refuse(data));
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(COUNT / 4);
});

test('a refusal is no longer than a few hundred kilobytes, whatever its parts have made of what was sent', () => {
  const problem = { ...invalid('a', 'b', 'c'), message: text };
  const refusals = [
    badRequest(text),
    invalidObject({ group: '', kind: 'Pod' }, text, [problem]),
    invalidObject({ group: '', kind: 'Pod' }, 'a', [{ ...problem, field: text }]),
    forbidden({ group: '', resource: 'pods' }, text, text),
  ];
  for (const { status } of refusals) {
    expect(JSON.stringify(status).length).toBeGreaterThan(MAX_PROBLEMS_LENGTH / 2);
    expect(JSON.stringify(status).length).toBeLessThan(4 * MAX_PROBLEMS_LENGTH);
  }
});
