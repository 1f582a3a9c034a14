import fc from 'fast-check';
import { RE2JS } from 're2js';
import { isLongSearch, searchInSteps } from './search';

function take(pattern: string, text: string): { readonly found: boolean; readonly steps: number } {
  const search = searchInSteps(RE2JS.compile(pattern), text);
  for (let steps = 1; ; steps += 1) {
    const { done, value } = search.next();
    if (done === true) return { found: value, steps };
  }
}

const piece = fc.constantFrom(
  'a',
  'b',
  '.',
  '[^a]',
  '[a-cx]',
  '(?i:A)',
  '(?s:.)',
  '\\b',
  '\\B',
  '\\w',
  '^',
  '$',
  '(?m:^)',
  '(?m:$)',
  '\\pL',
  '😀',
  '[𝒜-𝒵]',
);
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    piece,
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `${one}${other}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(${one}|${other})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,3}', '*?'))
      .map(([one, times]) => `(?:${one})${times}`),
  ),
}));
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'x', '_', ' ', '\n', 'ü', '😀', '𝒜'), maxLength: 12 });

it('finds what the library finds', () => {
  fc.assert(
    fc.property(pattern, text, (expression, inside) => {
      expect(take(expression, inside).found).toBe(RE2JS.compile(expression).test(inside));
    }),
    { numRuns: 2000 },
  );
});

it('takes steps whose number goes by the text', () => {
  const expression = '^([ab]*a[ab]{20}){9}$';
  const of = (length: number): string => Array.from({ length }, (_, index) => (index % 7 > 3 ? 'a' : 'b')).join('');
  const [short, long] = [take(expression, of(2_000)), take(expression, of(4_000))];
  expect(short.steps).toBeGreaterThan(5);
  expect(long.steps / short.steps).toBeLessThan(2.5);
});

it('is for texts and patterns that are long together', () => {
  const simple = RE2JS.compile('^[a-z]*$');
  expect(isLongSearch(simple, 'a'.repeat(1_000))).toBe(false);
  expect(isLongSearch(simple, 'a'.repeat(100_000))).toBe(true);
  expect(isLongSearch(RE2JS.compile('^(a?){900}$'), 'a'.repeat(1_000))).toBe(true);
});
