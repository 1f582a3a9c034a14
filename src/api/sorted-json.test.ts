import fc from 'fast-check';
import { atOnce } from './parts';
import { sortedJson } from './sorted-json';
import { sortedJson as sortedJsonInSteps } from './steps/generated/sorted-json';

describe('JSON with sorted keys', () => {
  it('is one text for all spellings of a value', () => {
    expect(sortedJson({ b: [1, { d: null, c: true }], a: 'x' })).toBe('{"a":"x","b":[1,{"c":true,"d":null}]}');
    expect(sortedJson({ a: 'x', b: [1, { c: true, d: null }] })).toBe('{"a":"x","b":[1,{"c":true,"d":null}]}');
  });

  it('has its first characters where no more are asked for, and not many others', () =>
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(200), (value, most) => {
        const whole = sortedJson(value);
        const begun = sortedJson(value, most);
        expect(begun.slice(0, most)).toBe(whole.slice(0, most));
        expect(atOnce(sortedJsonInSteps(value, most))).toBe(begun);
      }),
    ));

  it.each([
    ['a text', 'x'.repeat(100_000)],
    ['a list of texts', ['a', 'x'.repeat(100_000), 'y'.repeat(100_000)]],
    ['a long list', Array.from({ length: 100_000 }, () => 1)],
    ['a map', Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key ${index}`, { a: [index] }]))],
    ['lists in lists', Array.from({ length: 200 }, () => Array.from({ length: 200 }, () => []))],
  ])('does not look at the rest of %s', (_, value) => {
    expect(sortedJson(value, 1000).length).toBeLessThan(1100);
  });
});
