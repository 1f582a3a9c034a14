import fc from 'fast-check';
import { JsonSyntaxError, MAX_JSON_DEPTH, duplicateFields, parseJson } from './json-syntax';

test.each([
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"metadata":', 'unexpected end of JSON input'],
  ['["a', 'unexpected end of JSON input'],
  ['-', 'unexpected end of JSON input'],
  ['apiVersion: v1', "invalid character 'a' looking for beginning of value"],
  ['not json', "invalid character 'o' in literal null (expecting 'u')"],
  ['{}{}', "invalid character '{' after top-level value"],
  ['01', "invalid character '1' after top-level value"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"a\u0001b"', "invalid character '\\x01' in string literal"],
  ['"\\q"', "invalid character 'q' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['-a', "invalid character 'a' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1e+x', "invalid character 'x' in exponent of numeric literal"],
  ["'a'", "invalid character '\\'' looking for beginning of value"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
])('%j is refused: %s', (text, message) => {
  expect(() => parseJson(text)).toThrow(new JsonSyntaxError(message));
});

test('a key called __proto__ is an ordinary key', () => {
  const value = parseJson('{"__proto__":{"polluted":true}}') as object;
  expect(Object.hasOwn(value, '__proto__')).toBe(true);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('depth is bounded, whatever is in strings', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(parseJson(nested(MAX_JSON_DEPTH))).toEqual(expect.any(Array));
  expect(() => parseJson(nested(MAX_JSON_DEPTH + 1))).toThrow('exceeded max depth');
  expect(() => parseJson(nested(1_000_000))).toThrow('exceeded max depth');
  expect(() => parseJson('['.repeat(1_000_000))).toThrow('unexpected end of JSON input');
  expect(parseJson(JSON.stringify(['\\"', '['.repeat(5_000)]))).toHaveLength(2);
});

test('any text is parsed as the platform does, or explained', () => {
  const pieces = fc.constantFrom(...'{}[]:,"\\ \n-+.e0127truefalsn/é'.split(''), 'true', 'null', '"a"', '\\u00');
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const text = parts.join('');
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        expect(() => parseJson(text)).toThrow(JsonSyntaxError);
        expect(() => parseJson(text)).not.toThrow('undefined');
        return;
      }
      expect(parseJson(text)).toEqual(expected);
    }),
  );
});

test.each([
  ['{"a":1,"b":{"a":2}}', []],
  ['{"a":1,"a":2,"a":3}', ['a']],
  ['{"metadata":{"name":"x","name":"y"}}', ['metadata.name']],
  [
    '{"spec":{"containers":[{"n":1},{"n":1,"x":[{},{"y":1,"y":2}],"n":2}]}}',
    ['spec.containers[1].x[1].y', 'spec.containers[1].n'],
  ],
  ['{"a":{"x":"{\\"x\\":1,","\\u0078":2}}', ['a.x']],
  ['[{"a":1},{"a":1,"a":2}]', ['[1].a']],
])('duplicates of %s', (text, paths) => {
  expect(duplicateFields(text)).toEqual(paths);
});

test('what the platform prints has no duplicates', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(duplicateFields(JSON.stringify(value))).toEqual([]);
    }),
  );
});

test.each([
  ['"\\ud800"', '\ufffd'],
  ['{"\\uDC00k":["a\\ud83d\\ude00","\\ud83d\\u0041"]}', { '\ufffdk': ['a\u{1f600}', '\ufffdA'] }],
  ['"\\\\ud800"', '\\ud800'],
])('half a character in %s is the sign for none', (text, value) => {
  expect(parseJson(text)).toEqual(value);
});
