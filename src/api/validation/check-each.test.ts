import { invalid, type FieldError } from '../errors/field-error';
import { MAX_PROBLEMS_LENGTH } from '../errors/status-error';
import { atOnce, type Steps } from '../parts';
import { checkAfter, checkEach, checkInParts, checkNow } from './check-each';

function take(steps: Steps<readonly FieldError[]>): { readonly errors: readonly FieldError[]; readonly steps: number } {
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { errors: step.value, steps: count };
  }
}

const LIST = Array.from({ length: 2_000 }, (_, index) => ({ name: String(index % 7), parts: [index, index + 1] }));

/** Rules like those of kinds: one knows of the items before, one rests on what another has learned. */
function check(): readonly FieldError[] {
  const taken = new Set<string>();
  const known = new Set<number>();
  return [
    invalid('first', '', 'is wrong'),
    ...checkEach(LIST, ({ name, parts }, index) => {
      const isRepeated = taken.has(name);
      taken.add(name);
      return [
        ...(isRepeated ? [invalid(`list[${index}].name`, name, 'again')] : []),
        ...checkEach(parts, (part, position) => {
          known.add(part);
          return part % 3 === 0 ? [invalid(`list[${index}].parts[${position}]`, part, 'divisible')] : [];
        }),
      ];
    }),
    ...checkAfter(() => (known.size === LIST.length + 1 ? [] : [invalid('known', known.size, 'is not all')])),
    invalid('last', '', 'is wrong'),
  ];
}

test('rules that are looked at in parts find the same as at one stretch, in the same order', () => {
  expect(atOnce(checkInParts(check))).toEqual(check());
});

test('every item of a long list is a step', () => {
  expect(take(checkInParts(check)).steps).toBeGreaterThan(LIST.length);
});

test('a long list in the item of a short one is looked at in steps as well', () => {
  const nested = (): readonly FieldError[] => checkEach([LIST], (list) => checkEach(list, () => []));
  expect(take(checkInParts(nested)).steps).toBeGreaterThan(LIST.length);
});

test('the outcome of rules that decide about others is known at once', () => {
  const deciding = (): readonly FieldError[] => {
    const errors = checkNow(() => checkEach(LIST, () => []));
    return errors.length === 0 ? [invalid('next', '', 'was looked at')] : errors;
  };
  expect(atOnce(checkInParts(deciding))).toEqual(deciding());
});

test('nothing more is looked at when more is wrong than can be told', () => {
  let looked = 0;
  const long = 'x'.repeat(MAX_PROBLEMS_LENGTH / 8);
  const errors = atOnce(
    checkInParts(() =>
      checkEach(LIST, (_, index) => {
        looked += 1;
        return [invalid(`list[${index}]`, long, 'is wrong')];
      }),
    ),
  );
  expect(errors.length).toBe(looked);
  expect(looked).toBeLessThan(20);
});

test('a check that fails leaves none of the next ones for later', () => {
  const failing = (): readonly FieldError[] => {
    throw new Error('no');
  };
  expect(() => atOnce(checkInParts(failing))).toThrow('no');
  expect(checkEach(LIST, (_, index) => (index === 0 ? [invalid('a', '', 'b')] : []))).toHaveLength(1);
});
