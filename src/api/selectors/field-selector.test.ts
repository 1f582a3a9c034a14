import fc from 'fast-check';
import { StatusError } from '../errors/status-error';
import {
  DEFAULT_FIELD_LABELS,
  checkFieldLabels,
  exactFieldValue,
  fieldMatcher,
  matchesFields,
  parseFieldSelector,
  printFieldSelector,
  unknownFieldLabel,
} from './field-selector';

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) return error.message;
  }
  return 'not refused';
}

test.each([
  ['', []],
  ['a=b', [{ label: 'a', operator: '=', value: 'b' }]],
  ['a==b', [{ label: 'a', operator: '=', value: 'b' }]],
  ['a!=b,', [{ label: 'a', operator: '!=', value: 'b' }]],
  ['a=', [{ label: 'a', operator: '=', value: '' }]],
  ['=,a=,!=,==', [{ label: 'a', operator: '=', value: '' }]],
  [
    'a=x\\,y\\=z\\\\,b=1',
    [
      { label: 'a', operator: '=', value: 'x,y=z\\' },
      { label: 'b', operator: '=', value: '1' },
    ],
  ],
])('reads %j', (text, requirements) => {
  expect(parseFieldSelector(text)).toEqual(requirements);
});

test.each([
  ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  [
    'a=b,metadata.name in (c1)',
    "invalid selector: 'a=b,metadata.name in (c1)'; can't understand 'metadata.name in (c1)'",
  ],
  ['metadata.name=a\\xb', 'invalid field selector: invalid escape sequence: \\x'],
  ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ['a===c', 'invalid field selector: unescaped character in value: 61'],
])('refuses %j', (text, message) => {
  expect(messageOf(() => parseFieldSelector(text))).toBe(message);
});

test('a label that the kind does not know is refused', () => {
  const known = (label: string): boolean => DEFAULT_FIELD_LABELS.includes(label);
  expect(messageOf(() => checkFieldLabels(parseFieldSelector('metadata.name=a,nosuch=x'), known))).toBe(
    '"nosuch" is not a known field selector: only "metadata.name", "metadata.namespace"',
  );
  expect(
    messageOf(() => checkFieldLabels(parseFieldSelector('spec.x=1'), known, (label) => unknownFieldLabel(label, true))),
  ).toBe('field label not supported: spec.x');
  expect(messageOf(() => checkFieldLabels(parseFieldSelector('metadata.name=a'), known))).toBe('not refused');
});

test('all terms must hold, and what is absent is empty', () => {
  const read = (label: string): string | undefined => ({ 'status.phase': 'Running' })[label];
  expect(matchesFields(parseFieldSelector('status.phase=Running,spec.nodeName='), read)).toBe(true);
  expect(matchesFields(parseFieldSelector('status.phase=Running,spec.nodeName!='), read)).toBe(false);
  expect(matchesFields(parseFieldSelector('status.phase!=Pending'), read)).toBe(true);
});

it('a long selector matches what its terms match one by one, and reads a field once for each way of asking', () => {
  const term = fc.record({
    label: fc.constantFrom('a', 'b'),
    operator: fc.constantFrom('=', '!=' as const),
    value: fc.constantFrom('', 'x', 'y'),
  });
  const picks = fc.array(fc.nat(), { minLength: 9, maxLength: 20 });
  fc.assert(
    fc.property(
      fc.array(term, { minLength: 1, maxLength: 3 }),
      picks,
      fc.constantFrom(undefined, 'x'),
      (some, all, a) => {
        const terms = all.map((pick) => some[pick % some.length]!);
        let reads = 0;
        const read = (label: string): string | undefined => (reads++, label === 'a' ? a : 'y');
        const found = fieldMatcher(terms)(read);
        expect(reads).toBeLessThanOrEqual(4);
        expect(found).toBe(matchesFields(terms, read));
      },
    ),
  );
});

test('an exact value is found', () => {
  expect(exactFieldValue(parseFieldSelector('b=1,metadata.name=x'), 'metadata.name')).toBe('x');
  expect(exactFieldValue(parseFieldSelector('metadata.name!=x'), 'metadata.name')).toBeUndefined();
});

test('printing and parsing again gives the same requirements', () => {
  const requirement = fc.record({
    label: fc.stringMatching(/^[a-z][a-z.]{0,8}$/),
    operator: fc.constantFrom('=', '!=' as const),
    value: fc.string(),
  });
  fc.assert(
    fc.property(fc.array(requirement), (requirements) => {
      expect(parseFieldSelector(printFieldSelector(requirements))).toEqual(requirements);
    }),
  );
});

it('refuses backslashes without an operator in one pass', () => {
  expect(() => parseFieldSelector('\\a'.repeat(5_000))).toThrow("can't understand");
  expect(parseFieldSelector('a\\=b=c\\\\')).toEqual([{ label: 'a\\=b', operator: '=', value: 'c\\' }]);
});
