import { parseExact, stringifyExact } from './exact-json';
import fc from 'fast-check';
import { YamlSyntaxError, parseYaml, readYaml } from './yaml';
import { printYaml } from './yaml-print';

describe('reading', () => {
  test.each([
    ['', null],
    ['a: 1\nb: [x, "2"]\n', { a: 1, b: ['x', '2'] }],
    ['n: 5\ny: yes', { false: 5, true: true }],
    ['a: Off\nb: oN', { a: false, b: 'oN' }],
    [
      'a: 0777\nb: 0o17\nc: 0x1F\nd: 0b11\ne: 1_000\nf: -017\ng: 1e3\nh: .5',
      { a: 511, b: 15, c: 31, d: 3, e: 1000, f: -15, g: 1000, h: 0.5 },
    ],
    ['a: 1:30\nb: 2020-01-01\nc: 2020-01-01T00:00:00Z', { a: '1:30', b: '2020-01-01', c: '2020-01-01T00:00:00Z' }],
    ['a: ~\nb:\nc: null\nd: ""', { a: null, b: null, c: null, d: '' }],
    ['a: !!str 5\nb: !!binary aGVsbG8=\nc: ! 7', { a: '5', b: 'hello', c: '7' }],
    ['1: a\ntrue: b\n1.5: c', { 1: 'a', true: 'b', 1.5: 'c' }],
    ['a: |\n  x\n  y\nb: >-\n  f\n  g\n', { a: 'x\ny\n', b: 'f g' }],
    ['base: &b {a: 1, c: 3}\nx:\n  <<: *b\n  a: 2', { base: { a: 1, c: 3 }, x: { a: 2, c: 3 } }],
    ['a: x\n---\nb: [', { a: 'x' }],
    ['a: 1\na: 2', { a: 2 }],
    ['{"n": "1", "yes": 2}', { n: '1', yes: 2 }],
  ])('%j', (text, expected) => {
    expect(parseYaml(text)).toEqual(expected);
  });

  test.each([
    ['a: [', 'yaml: line 1: did not find expected node content'],
    ['apiVersion: apps/v1\nkind: [', 'yaml: line 2: did not find expected node content'],
    ['{a: 1', "yaml: line 1: did not find expected ',' or '}'"],
    ['metadata:\n\tname: a\n', 'yaml: line 2: found character that cannot start any token'],
    ['a: @x', 'yaml: line 1: found character that cannot start any token'],
    ['a: b: c', 'yaml: line 1: mapping values are not allowed in this context'],
    ['a: "x', 'yaml: line 1: found unexpected end of stream'],
    ['a: "\\q"', 'yaml: line 1: found unknown escape character'],
    ['a: *x', "yaml: unknown anchor 'x' referenced"],
    ['a: &x [*x]', "yaml: anchor 'x' value contains itself"],
    ['? [a]\n: b', 'yaml: invalid map key'],
    ['<<: 5', 'yaml: map merge requires map or sequence of maps as the value'],
    ['a: .inf', 'yaml: unsupported value: .inf'],
  ])('%j is refused', (text, message) => {
    expect(() => parseYaml(text)).toThrow(new YamlSyntaxError(message.slice('yaml: '.length)));
  });

  test('a bomb of aliases is refused at once', () => {
    const level = (name: string, of: string): string => `${name}: &${name} [${Array(10).fill(of).join(',')}]\n`;
    const bomb =
      level('a', '1') + level('b', '*a') + level('c', '*b') + level('d', '*c') + level('e', '*d') + level('f', '*e');
    expect(() => parseYaml(bomb)).toThrow('excessive aliasing');
  });

  test('a bomb of nesting is refused', () => {
    expect(() => parseYaml('['.repeat(20_000))).toThrow(YamlSyntaxError);
    expect(() => parseYaml(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)).toThrow(YamlSyntaxError);
  });

  test('a long text that aliases repeat is a bomb too', () => {
    const repeated = (times: number): string =>
      `a: &a ${'x'.repeat(64 * 1024)}\nb: [${Array(times).fill('*a').join(',')}]\n`;
    expect(Object.keys(parseYaml(repeated(10)) as object)).toEqual(['a', 'b']);
    expect(() => parseYaml(repeated(100))).toThrow('excessive aliasing');
  });

  test.each([
    ['flow maps', `a: [${'{},'.repeat(200_001)}{}]`],
    ['flow pairs', `a: [${'a: b,'.repeat(200_001)}]`],
    ['list items', 'a:\n' + '- b\n'.repeat(400_001)],
    ['empty list items', 'a:\n' + '-\n'.repeat(400_001)],
    ['explicit keys', 'a:\n' + ' ? b\n'.repeat(400_001)],
    ['lines with keys', 'a: b\n'.repeat(400_001)],
    ['anchors', `a: [${'&b b,'.repeat(400_001)}]`],
    ['aliases', `a: &a b\nc: [${'*a,'.repeat(400_001)}]`],
  ])('a document with too many values is refused before it is read: %s', (_, text) => {
    expect(() => parseYaml(text)).toThrow(new YamlSyntaxError('document contains too many values'));
  });

  test('only the first document is read, whatever comes before and after it', () => {
    expect(parseYaml('%YAML 1.1\n# c\n--- # d\na: 1\n...\n{[')).toEqual({ a: 1 });
    expect(parseYaml('\r\n---\r\na: 1\r\n---\r\nb: 2')).toEqual({ a: 1 });
    expect(parseYaml('a: 1\n' + '--- {}\n'.repeat(400_001))).toEqual({ a: 1 });
    expect(parseYaml('#\n'.repeat(1_000_000) + 'a: 1')).toEqual({ a: 1 });
    expect(parseYaml('a: "---"\nb: ---c\nc: |\n  ---\n')).toEqual({ a: '---', b: '---c', c: '---\n' });
  });

  test('keys that are deep in keys are refused', () => {
    const level = (name: string, of: string): string =>
      `${name}: &${name} {? ${'['.repeat(900)}${of}${']'.repeat(900)} : b}\n`;
    const text = level('a', 'x') + level('b', '*a') + level('c', '*b') + level('d', '*c');
    expect(() => parseYaml(text)).toThrow(YamlSyntaxError);
  });

  test('a key called __proto__ is an ordinary key', () => {
    const value = parseYaml('__proto__: {x: 1}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
  });

  test('any text is read or refused', () => {
    const pieces = fc.constantFrom(
      ...'ab1:- \n\t#[]{},&*!|>\'"%@`?<'.split(''),
      ': ',
      '\n- ',
      '\n  ',
      '&a ',
      '*a',
      '<<: ',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        try {
          parseYaml(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(YamlSyntaxError);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('duplicate keys are found', () => {
    expect(readYaml('a: 1\nb:\n  c: 1\n  c: 2\n').duplicates).toEqual([
      'yaml: unmarshal errors:\n  line 4: key "c" already set in map',
    ]);
    expect(readYaml('a: 1\nb: 2\n').duplicates).toEqual([]);
    expect(readYaml('{"a": 1, "b": {"a": 1}}').duplicates).toEqual([]);
    expect(readYaml('{"a": 1, "a": 2}')).toEqual({
      value: { a: 2 },
      duplicates: ['yaml: unmarshal errors:\n  line 1: key "a" already set in map'],
    });
  });
});

describe('printing', () => {
  test('an answer is laid out as kube-apiserver does', () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'ConfigMap "BAD" is invalid: metadata.name: Invalid value: "BAD": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \'-\' or \'.\', and so on',
      details: {
        name: 'BAD',
        causes: [{ reason: 'FieldValueInvalid', message: 'a: b', field: 'metadata.name' }],
        empty: [],
      },
      code: 422,
    };
    expect(printYaml(status)).toBe(
      [
        'apiVersion: v1',
        'code: 422',
        'details:',
        '  causes:',
        '  - field: metadata.name',
        "    message: 'a: b'",
        '    reason: FieldValueInvalid',
        '  empty: []',
        '  name: BAD',
        'kind: Status',
        'message: \'ConfigMap "BAD" is invalid: metadata.name: Invalid value: "BAD": a lowercase',
        "  RFC 1123 subdomain must consist of lower case alphanumeric characters, ''-'' or",
        "  ''.'', and so on'",
        'metadata: {}',
        'status: Failure',
        '',
      ].join('\n'),
    );
  });

  test.each([
    ['', '""'],
    ['yes', '"yes"'],
    ['5', '"5"'],
    ['1:30', '"1:30"'],
    ['2020-01-02T03:04:05Z', '"2020-01-02T03:04:05Z"'],
    ['null', '"null"'],
    ['v1', 'v1'],
    ['a b', 'a b'],
    ['a: b', "'a: b'"],
    ['a #b', "'a #b'"],
    ['#a', "'#a'"],
    ['- a', "'- a'"],
    ['-a', '-a'],
    ["it's", "it's"],
    [' a', "' a'"],
    ['*', "'*'"],
    ['a\tb', '"a\\tb"'],
    ['a\nb', '|-\n  a\n  b'],
    ['a\nb\n', '|\n  a\n  b'],
    ['a\n\n', '|+\n  a\n'],
    [' a\nb', '|2-\n   a\n  b'],
    ['a \nb', '"a \\nb"'],
    ['a\u0001', '"a\\x01"'],
    ['é', 'é'],
  ])('the text %j', (text, printed) => {
    expect(printYaml({ k: text })).toBe(`k: ${printed}\n`);
  });

  test('keys are in natural order', () => {
    const keys = ['b', 'a10', 'a2', 'a', 'B', '1', 'f:x', '.'];
    expect(printYaml(Object.fromEntries(keys.map((key) => [key, 0])))).toBe(
      ['.', '"1"', 'B', 'a', 'a2', 'a10', 'b', 'f:x'].map((key) => `${key}: 0\n`).join(''),
    );
  });

  test('numbers, nulls and nested lists', () => {
    expect(printYaml({ a: [1.5, null, true, [1, [2]], { b: [] }], c: 1e6, d: 1234567.5, e: 0.00001 })).toBe(
      [
        'a:',
        '- 1.5',
        '- null',
        '- true',
        '- - 1',
        '  - - 2',
        '- b: []',
        'c: 1000000',
        'd: 1.2345675e+06',
        'e: 1e-05',
        '',
      ].join('\n'),
    );
  });

  test('reading again gives the same value', () => {
    const value = fc
      .oneof(fc.jsonValue(), fc.bigInt())
      .map(stringifyExact)
      .filter((text) => !text.includes('__proto__'));
    fc.assert(
      fc.property(value, (text) => {
        const plain = parseExact(text);
        expect(parseYaml(printYaml(plain))).toEqual(plain);
      }),
      { numRuns: 500 },
    );
  });

  test('long texts fold and come back whole', () => {
    const words = fc.array(fc.stringMatching(/^[-a-z:#'"\\\n ]{0,9}$/), { minLength: 10, maxLength: 60 });
    fc.assert(
      fc.property(words, (some) => {
        const value = { a: [{ b: some.join(' ') }] };
        expect(parseYaml(printYaml(value))).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });
});
