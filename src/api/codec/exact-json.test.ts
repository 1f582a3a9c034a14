import fc from 'fast-check';
import {
  exactInteger,
  hasLongInteger,
  MAX_INT64,
  MIN_INT64,
  parseExact,
  readExactly,
  stringifyExact,
} from './exact-json';

const int64 = fc.bigInt({ min: MIN_INT64, max: MAX_INT64 });

/** Plain data in which integers beyond 2^53 are bigints, as parsing gives them. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, tie('scalar'), tie('list'), tie('map')),
  scalar: fc.oneof(
    int64.map(exactInteger),
    fc.string(),
    fc.string({ unit: fc.constantFrom('1', '7', ':', '"', '\\', ',', ' '), maxLength: 40 }),
    fc.boolean(),
    fc.constant(null),
    fc.integer().map((number) => number / 8),
  ),
  list: fc.array(tie('value'), { maxLength: 5 }),
  map: fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), {
    maxKeys: 5,
    noNullPrototype: true,
  }),
}));

test('printing and parsing again gives the same value, with all digits of its integers', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (one, indent) => {
      const text = stringifyExact(one, indent);
      expect(parseExact(text)).toEqual(one);
      expect(stringifyExact(parseExact(text), indent)).toBe(text);
    }),
  );
});

test('without long integers it prints and parses as the platform does', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 2), (text, indent) => {
      const plain: unknown = JSON.parse(text);
      expect(stringifyExact(plain, indent)).toBe(JSON.stringify(plain, null, indent));
      if (!hasLongInteger(text)) expect(readExactly(text)).toEqual(plain);
    }),
  );
});

test('with a bigint the rest is laid out as the platform does', () => {
  const data = { a: [], b: {}, c: [1, { d: null, e: undefined }], f: [undefined], g: 'x' };
  const expected = JSON.stringify({ ...data, h: 5 }, null, 2);
  expect(stringifyExact({ ...data, h: 5n }, 2)).toBe(expected);
  expect(stringifyExact({ ...data, h: 5n })).toBe(JSON.stringify({ ...data, h: 5 }));
});

test.each([
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', 9007199254740992n],
  ['-9223372036854775808', -9223372036854775808n],
  ['9223372036854775807', 9223372036854775807n],
  // No int64, and so a float64.
  ['9223372036854775808', 9223372036854775808],
  ['1e17', 1e17],
  ['12345678901234567.0', Number('12345678901234567.0')],
  ['0.12345678901234567', Number('0.12345678901234567')],
])('%s is %p', (text, number) => {
  expect(parseExact(text)).toBe(number);
  expect(parseExact(`{"a":[ ${text} ,"${text}"]}`)).toEqual({ a: [number, text] });
});

test('the last of members with one name counts, and __proto__ is a name', () => {
  const parsed = parseExact('{"a":1,"__proto__":{"b":1234567890123456789},"a":1234567890123456789}') as object;
  expect(Object.entries(parsed)).toEqual([
    ['a', 1234567890123456789n],
    ['__proto__', { b: 1234567890123456789n }],
  ]);
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test('runs of digits are found wherever they stand', () => {
  fc.assert(
    fc.property(fc.nat(40), fc.integer({ min: 14, max: 20 }), fc.nat(40), (before, digits, after) => {
      const text = `${' '.repeat(before)}${'1'.repeat(digits)}${' '.repeat(after)}`;
      expect(hasLongInteger(text)).toBe(digits >= 16);
    }),
  );
});

test('of a number of more digits than an int64 has no bigint is made, which for megabytes takes a second', () => {
  const made = jest.spyOn(globalThis, 'BigInt');
  const digits = '1'.repeat(100_000);
  const text = `{"a":${digits},"b":[9223372036854775807,-9223372036854775808,18446744073709551616,-${digits}]}`;
  expect(hasLongInteger(`[${digits}]`)).toBe(false);
  expect(parseExact(text)).toEqual({ a: Infinity, b: [MAX_INT64, MIN_INT64, 2 ** 64, -Infinity] });
  expect(made.mock.calls.map(([asked]) => String(asked).length)).toEqual([19, 20]);
  made.mockRestore();
});

test('of a number of megabytes no more digits are looked at one by one than make it a long one', () => {
  const digits = '1'.repeat(100_000);
  const looks = jest.spyOn(String.prototype, 'charCodeAt');
  hasLongInteger(`[${digits}]`);
  expect(looks.mock.calls.length).toBeLessThan(100);
  looks.mockRestore();
});
