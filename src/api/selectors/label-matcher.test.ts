import fc from 'fast-check';
import { labelMatcher, type Labelled } from './label-matcher';
import { matchesLabels, parseLabelSelector, type LabelRequirement, type Labels } from './label-selector';

const key = fc.constantFrom('a', 'b', 'c');
const value = fc.constantFrom('', 'x', 'y', '3', '7', '99999999999999999999');
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('=', '==', '!='), values: fc.tuple(value) }),
  fc.record({ key, operator: fc.constantFrom('exists', '!'), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom('>', '<'), values: fc.tuple(fc.constantFrom('-2', '3', '5', '+7')) }),
  fc.record({
    key,
    operator: fc.constantFrom('in', 'notin'),
    values: fc.uniqueArray(value, { minLength: 1 }).map((values) => values.sort()),
  }),
);

const labelled = (labels: Labels): Labelled => ({ labels, pickLabels: () => labels });

it('a long selector matches what its requirements match one by one', () => {
  fc.assert(
    fc.property(
      fc.array(requirement, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { minLength: 9, maxLength: 20 }),
      fc.dictionary(key, value),
      (some, picks, labels) => {
        // Few different ones, or nothing would ever match.
        const requirements = picks.map((pick) => some[pick % some.length] as LabelRequirement);
        expect(labelMatcher(requirements)(labelled(labels))).toBe(matchesLabels(requirements, labels));
      },
    ),
    { numRuns: 1000 },
  );
});

it.each([
  ['of many keys', Array.from({ length: 4_000 }, (_, index) => `k${index}!=v`)],
  ['of one key', Array.from({ length: 4_000 }, (_, index) => `a!=v${index}`)],
  ['of values that must be there', Array.from({ length: 4_000 }, () => 'a=x')],
  ['of keys that must be there', Array.from({ length: 4_000 }, (_, index) => `k${index}`)],
])('a selector %s reads no more of an object than it has labels', (_name, terms) => {
  let reads = 0;
  const count = <Result>(result: Result): Result => (reads++, result);
  const labels: Labels = new Proxy<Record<string, string>>(
    { a: 'x', b: 'y' },
    {
      get: (target, name) => count(target[name as string]),
      getOwnPropertyDescriptor: (target, name) => count(Object.getOwnPropertyDescriptor(target, name)),
    },
  );
  labelMatcher(parseLabelSelector(terms.join(',')))(labelled(labels));
  expect(reads).toBeLessThan(10);
});
