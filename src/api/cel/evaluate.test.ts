import { compileExpression } from './compile-expression';
import { adaptDynamic } from './data';
import { asText } from './functions/format-string';
import { DYN } from './types';
import type { JsonValue } from '../object';

const VARIABLES = new Map([['self', DYN]]);

function start(source: string, self: JsonValue = null, limit = 1_000_000) {
  return compileExpression(source, VARIABLES).start({ self: adaptDynamic(self) }, limit);
}

function evaluate(source: string, self?: JsonValue): string {
  const outcome = start(source, self).proceed();
  if (outcome === undefined) return 'paused';
  return 'error' in outcome ? `error: ${outcome.error}` : asText(outcome.value);
}

it.each([
  // Kubernetes' libraries.
  ['[1, 2, 3].isSorted() && ![2, 1].isSorted()', 'true'],
  ['[1, 3, 2].max() + [1, 3].min() + [1, 2].sum()', '7'],
  ['[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2', 'true'],
  ["'abc 123 x45'.find('[0-9]+')", '123'],
  ["'abc 123 x45'.findAll('[0-9]+')", '[123, 45]'],
  ["url('https://example.com:80/a%20b?k=v&k=w').getHostname()", 'example.com'],
  ["url('https://example.com:80/a%20b?k=v&k=w').getQuery()['k']", '[v, w]'],
  ["isURL('not a url') || !isURL('/path')", 'false'],
  ["quantity('1Gi').isGreaterThan(quantity('1G'))", 'true'],
  ["quantity('1.5').isInteger() || quantity('2k').asInteger() != 2000", 'false'],
  ["isQuantity('10xx')", 'false'],
  ["ip('192.168.0.1').family() == 4 && ip('::1').isLoopback()", 'true'],
  ["ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')", 'true'],
  ["cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7')", 'true'],
  ["cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')", 'true'],
  ["format.dns1123Label().validate('my-name').hasValue()", 'false'],
  // Null may be compared with what is optional, from either side.
  ["format.dns1123Label().validate('my-name') == null || null == optional.of(1)", 'false'],
  ["format.named('dns1123Label').value().validate('My').value().size()", '1'],
  ["semver('1.10.0').isGreaterThan(semver('1.9.0')) && semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))", 'true'],
  ["semver('v1.2', true).minor()", '2'],
  ["isSemver('1.2')", 'false'],
  ['sets.contains([1, 2, 3], [2, 3]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 1], [1])', 'true'],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v * 2)", '{a: 2, b: 4}'],
  ['[1, 2].transformList(i, v, i + v)', '[1, 3]'],
  ["self.?a.b.orValue('none')", 'none'],
])('%s is %s', (source, wanted) => {
  expect(evaluate(source, {})).toBe(wanted);
});

it.each([
  ['self.a', 'error: no such key: a'],
  ['[1][1]', 'error: index out of bounds: 1'],
  ['1 / 0', 'error: division by zero'],
  ['9223372036854775807 + 1', 'error: integer overflow'],
  ["self.a.all(x, x == 'y') || true", 'true'],
  ["'x' + dyn(1)", 'error: no such overload'],
])('%s: %s', (source, wanted) => {
  expect(evaluate(source, {})).toBe(wanted);
});

const NUMBERS = Array.from({ length: 300 }, (_, index) => index);

it('what an evaluation costs ends it, and no condition catches that', () => {
  const outcome = start('self.all(a, self.all(b, self.all(c, a + b + c >= 0))) || true', NUMBERS).proceed();
  expect(outcome).toEqual({ error: 'operation cancelled: actual cost limit exceeded', costExceeded: true });
});

it.each([
  'self.map(a, self.filter(b, b % 7 == a % 7).size()).sum()',
  'self.all(a, self.exists(b, b == a)) && self.exists_one(a, self.all(b, b <= a))',
  'self.map(a, self.map(b, a * b).max() + self.map(b, a + b).min()).size()',
  'self.map(a, self.all(b, b < a) || self.exists(b, b == a)).size()',
  'self.transformMap(i, v, self.filter(w, w > v).size())[7]',
])('an evaluation in parts comes to the same value at the same cost: %s', (source) => {
  const whole = start(source, NUMBERS, 10_000_000);
  const wanted = whole.proceed();
  const parts = start(source, NUMBERS, 10_000_000);
  let count = 0;
  let outcome = parts.proceed(20_000);
  while (outcome === undefined) {
    count += 1;
    outcome = parts.proceed(20_000);
  }
  expect(outcome).toEqual(wanted);
  expect(parts.cost).toBe(whole.cost);
  expect(count).toBeGreaterThan(5);
});

it.each([
  ["self.all(a, self[0].replace('', self[0]) == '')", Array.from({ length: 10 }, () => 'x'.repeat(50_000))],
  ["self.map(a, self[0]).join('')", Array.from({ length: 3_000 }, () => 'x'.repeat(50_000))],
])('what would make texts without end is ended: %s', (source, self) => {
  expect(evaluate(source, self)).toBe('error: operation cancelled: actual cost limit exceeded');
});

it('comparing large structures counts', () => {
  const large = { list: NUMBERS.map((number) => ({ number, more: NUMBERS })) };
  const run = start('self == self.copy', { ...large, copy: large });
  run.proceed();
  const compared = start('self.a == self.b', { a: large, b: structuredClone(large) });
  compared.proceed();
  expect(compared.cost).toBeGreaterThan(5_000);
});

describe('searches that take long', () => {
  const text = 'ab'.repeat(2_000);
  const slow = (times: number): string => `self.matches('^([ab]*a[ab]{${times}}){3}$')`;

  /** What comes of an expression, and how often it was interrupted. */
  function inParts(source: string, self: JsonValue): { readonly outcome: unknown; readonly pauses: number } {
    const run = start(source, self);
    for (let pauses = 0; ; pauses += 1) {
      const outcome = run.proceed(2_000);
      if (outcome !== undefined) return { outcome, pauses };
      expect(pauses).toBeLessThan(5_000);
    }
  }

  it.each([
    [`${slow(99)} && ${slow(101)} && !${slow(100)}`, true],
    [`[self, self].all(one, one.matches('^([ab]*a[ab]{101}){3}$'))`, true],
    [`self.findAll('.*x|a').size() == 2000`, true],
  ])('are interrupted, and come to what they come to at once: %s', (source, wanted) => {
    const { outcome, pauses } = inParts(source, text);
    expect(outcome).toEqual({ value: wanted });
    expect(pauses).toBeGreaterThan(10);
    const whole = start(source, text);
    expect(whole.proceed()).toEqual({ value: wanted });
  });

  it.each([
    ["self.find('^([ab]*a[ab]{100}){9}$')", 20_000],
    ["self.findAll('a|b')", 300_000],
  ])('for what no step can be made of have an end: %s', (source, length) => {
    expect(inParts(source, 'a'.repeat(length)).outcome).toEqual({
      error: 'operation cancelled: actual cost limit exceeded',
      costExceeded: true,
    });
  });
});

describe('what the platform or the cost of a call sets no bound to has one', () => {
  const numbers = Array.from({ length: 1_000 }, (_, index) => index);
  const exceeded = 'error: operation cancelled: actual cost limit exceeded';

  it.each<[string, JsonValue, string]>([
    ['comparing what refers to a list again and again', numbers, exceeded],
    ['all that an object may hold', Array.from({ length: 100 }, () => numbers), 'true'],
  ])('%s', (_name, self, wanted) => {
    const source = wanted === 'true' ? 'self == self.map(x, x)' : 'self.map(x, self) == self.map(x, self.map(y, y))';
    expect(evaluate(source, self)).toBe(wanted);
  });

  it.each([
    ['the length of texts', 'self + self', 'x'.repeat(2_000_000)],
    ['the number of pieces', "self.split('')", 'x'.repeat(200_000)],
    ['the values of a printed list', "'%s'.format([self.split('')])", 'x'.repeat(90_000)],
    ['the length of a printed text', "'%s%s'.format([self, self])", 'x'.repeat(2_000_000)],
    ['the length of a query', 'url(self).getQuery()', `/?${'x'.repeat(300_000)}`],
    ['the parameters of a query', 'url(self).getQuery()', `/?${'x&'.repeat(30_000)}`],
    ['the length of a version', 'isSemver(self)', `1.0.0-${'a.'.repeat(100_000)}a`],
  ])('%s', (_name, source, self) => {
    expect(evaluate(source, self)).toBe(exceeded);
  });

  it('passing over a long text costs more than a call', () => {
    const run = start('[1, 2, 3].all(i, self.charAt(i) == self.substring(i, i + 1))', '\u{1f600}'.repeat(1_000_000));
    expect(run.proceed()).toEqual({ value: true });
    const plain = start('[1, 2, 3].all(i, self.substring(i, i + 1) != "")', '\u{1f600}'.repeat(1_000_000));
    expect(plain.proceed()).toEqual({ value: true });
    expect(run.cost - plain.cost).toBeGreaterThan(3 * 3_000);
  });

  it('clauses beyond the arguments of a format are not looked for', () => {
    expect(evaluate("self.format(['x'])", '%s'.repeat(500_000))).toBe('error: index 1 out of range');
  });

  it('long texts that are looked through in parts are not remembered without end', () => {
    const source = "['1', '2', '3', '4', '5', '6', '7', '8', '9'].all(x, strings.quote(self + x) != '')";
    const run = start(source, '"'.repeat(2_000_000), 100_000_000);
    let outcome;
    while (outcome === undefined) outcome = run.proceed(2_000);
    expect(outcome).toMatchObject({ costExceeded: true });
  });
});
