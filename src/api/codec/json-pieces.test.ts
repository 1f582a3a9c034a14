import { parseExact, stringifyExact } from './exact-json';
import fc from 'fast-check';
import { knownKeysOf } from '../parts';
import { JsonPieces, MalformedJsonError, TooManyValuesError } from './json-pieces';
import { JsonSyntaxError, MAX_JSON_DEPTH, parseJson } from './json-syntax';

const UNLIMITED = 1_000_000;

function parsed(text: string | Buffer, pieceBytes: number, maxValues = UNLIMITED): { value: unknown; steps: number } {
  const pieces = new JsonPieces(Buffer.from(text), { maxValues, pieceBytes });
  let steps = 1;
  while (!pieces.advance()) steps += 1;
  return { value: pieces.value, steps };
}

const json = fc.json({ maxDepth: 6, noUnicodeString: false });
const spaced = fc
  .tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

test('what is parsed in pieces is what the platform parses at once, in the same order', () => {
  fc.assert(
    fc.property(fc.oneof(json, spaced), fc.integer({ min: 0, max: 40 }), (text, pieceBytes) => {
      const { value } = parsed(text, pieceBytes);
      expect(value).toEqual(parseExact(text));
      expect(stringifyExact(value)).toBe(stringifyExact(parseExact(text)));
    }),
    { numRuns: 2_000 },
  );
});

describe('long texts', () => {
  const bits = fc.constantFrom(
    'a',
    'é',
    '\u20ac',
    '\u{1f600}',
    '\\n',
    '\\"',
    '\\\\',
    '\\u00e9',
    '\\ud83d',
    '\\uDE00',
    '\\u',
    '\\x',
    'd83d',
    '\n',
  );
  const text = fc.array(bits, { maxLength: 40 }).map((some) => some.join(''));

  it.each([
    '["a",$]',
    '{"a":1,"b":$,"c":2}',
    '{"a":{"b":[{"c": $ },1],"d":2}}',
    '{"$":1}',
    '$',
    '["a" $]',
    '{"a":"b":$}',
  ])('are parsed in parts or refused as the platform does it at once: %s', (around) => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 9 }), (some, pieceBytes) => {
        const whole = around.replace('$', () => `"${some}"`).replace('""', '"');
        let expected: { value: unknown } | undefined;
        try {
          expected = { value: parseJson(whole) };
        } catch {
          expect(() => parsed(whole, pieceBytes)).toThrow(MalformedJsonError);
          return;
        }
        expect(parsed(whole, pieceBytes).value).toEqual(expected.value);
      }),
      { numRuns: 1_000 },
    );
  });

  it('that are no UTF-8 become what they become at once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0x61, 0x80, 0xbf, 0xc3, 0xe2, 0xf0, 0xff), { maxLength: 40 }),
        fc.integer({ min: 0, max: 9 }),
        (some, pieceBytes) => {
          const bytes = Buffer.from([0x5b, 0x22, ...some, 0x22, 0x5d]);
          expect(parsed(bytes, pieceBytes).value).toEqual(JSON.parse(bytes.toString()));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each(['a', 'é', '\\n', '\\u00e9', '\\\\ud83d', '\\ud83d', '\\udc00', '\\ud83d\\ude00'])(
    'are cut into parts: of %s',
    (bit) => {
      const long = bit.repeat(10_000);
      const { value, steps } = parsed(`{"a":[1,"${long}"]}`, 500);
      expect(value).toEqual(parseJson(`{"a":[1,"${long}"]}`));
      expect(steps).toBeGreaterThan(Buffer.byteLength(long) / 600);
    },
  );
});

test('any text is parsed or refused as by the platform', () => {
  const parts = fc.constantFrom(
    ...'{}[]:,"\\ \n-1e0é\u00a0'.split(''),
    'true',
    '"a"',
    '"b":',
    '[1]',
    '{"a":2}',
    ',',
    '],',
    '[,',
  );
  fc.assert(
    fc.property(fc.array(parts), fc.integer({ min: 0, max: 6 }), (some, pieceBytes) => {
      const text = some.join('');
      let expected: { value: unknown } | undefined;
      try {
        expected = { value: JSON.parse(text) as unknown };
      } catch {
        expect(() => parsed(text, pieceBytes)).toThrow(MalformedJsonError);
        return;
      }
      expect(parsed(text, pieceBytes).value).toEqual(expected.value);
    }),
    { numRuns: 3_000 },
  );
});

test('the last of members with one name counts, and __proto__ is a name like any other', () => {
  const text = '{"a":[1,2,3],"b":1,"a":{"c":1,"d":2},"__proto__":{"x":1,"y":2},"z":0}';
  for (const pieceBytes of [0, 3, 10]) {
    const { value } = parsed(text, pieceBytes);
    expect(stringifyExact(value)).toBe(stringifyExact(parseExact(text)));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  }
});

test('bytes that are no UTF-8 become what they become at once', () => {
  const text = Buffer.from('["\x80","é",["\xff\xc3"],"x\xe2"]', 'latin1');
  expect(parsed(text, 0).value).toEqual(JSON.parse(text.toString()));
});

test('a text is cut into pieces of about the wanted size', () => {
  const text = JSON.stringify({ a: Array(1_000).fill({ b: 'c' }), d: { e: Array(1_000).fill(1) } });
  const { steps } = parsed(text, 500);
  expect(steps).toBeGreaterThan(text.length / 600);
  expect(steps).toBeLessThan(text.length / 400);
});

test('values are counted before they are parsed', () => {
  expect(parsed('[0,{"a":[]}]', 0, 4).value).toEqual([0, { a: [] }]);
  expect(() => parsed('[0,{"a":[]}]', 0, 3)).toThrow(TooManyValuesError);
  expect(() => parsed(`[${'[],'.repeat(50_000)}0]`, 1_000, 99_999)).toThrow('more than 99999 values');
});

test('depth is bounded', () => {
  const nested = (depth: number): string => '[1,'.repeat(depth) + '2' + ']'.repeat(depth);
  expect(parsed(nested(MAX_JSON_DEPTH), 100).value).toEqual(JSON.parse(nested(MAX_JSON_DEPTH)));
  expect(() => parsed(nested(MAX_JSON_DEPTH + 1), 100)).toThrow(new JsonSyntaxError('exceeded max depth'));
  expect(() => parsed('['.repeat(1_000_000), 100)).toThrow('exceeded max depth');
});

test('half a character stands for none, as in a small body', () => {
  const text = JSON.stringify({ list: Array.from({ length: 100 }, () => 'x') }).replace('"x"', '"\\ud800y"');
  const { value, steps } = parsed(text, 32);
  expect(steps).toBeGreaterThan(1);
  expect(value).toEqual(parseJson(text));
  expect((value as { readonly list: readonly string[] }).list[0]).toBe('\ufffdy');
});

describe('a list apart', () => {
  const read = (text: string, maxValues: number, most: number) => {
    const apart = { map: 'metadata', list: 'managedFields', maxValues: most };
    const pieces = new JsonPieces(Buffer.from(text), { maxValues, apart, pieceBytes: 16 });
    while (!pieces.advance());
    return pieces.value;
  };
  const owned = JSON.stringify([{ fieldsV1: { 'f:a': {}, 'f:b': {} } }, {}]);
  const object = `{"metadata":{"name":"x","managedFields":${owned},"uid":"y"},"data":{"a":"b"}}`;

  test('does not count with the other values, and has as many of its own as it may', () => {
    // Three maps, three commas, and the brackets of the list itself.
    expect(read(object, 7, 7)).toEqual(JSON.parse(object));
    expect(() => read(object, 6, 7)).toThrow('the body has more than 6 values');
    expect(() => read(object, 7, 6)).toThrow('managedFields has more than 6 values');
  });

  test.each([
    ['elsewhere', `{"spec":{"managedFields":${owned}}}`],
    ['deeper', `{"a":{"metadata":{"managedFields":${owned}}}}`],
    ['at the top', `{"metadata":{},"managedFields":${owned}}`],
    ['in a list', `[{"metadata":{"managedFields":${owned}}}]`],
    ['that is a map', `{"metadata":{"managedFields":{"a":${owned}}}}`],
    ['after it', `{"metadata":{"managedFields":[]},"data":${owned}}`],
  ])('is that one only: %s', (_where, text) => {
    expect(() => read(text, 7, 0)).toThrow('the body has more than 7 values');
  });
});

test('the keys of a map that is parsed in pieces are known, each once', () => {
  const pieces = Array.from(
    { length: 3_000 },
    (_, index) => `"k${index % 2_500}":${index === 7 ? '{"a":"b"}' : index}`,
  );
  const reader = new JsonPieces(Buffer.from(`{${pieces.join()}}`), { maxValues: Infinity, pieceBytes: 64 });
  while (!reader.advance());
  expect(knownKeysOf(reader.value as object)).toEqual(Object.keys(reader.value as object));
});

test('blanks and texts of megabytes are passed some of them at a time, wherever they stand', () => {
  const [blanks, letters] = [' \n\t\r'.repeat(256 * 1024), 'x'.repeat(1024 * 1024)];
  for (const [text, value] of [
    [`${blanks}{"a":1}`, { a: 1 }],
    [`{${blanks}"a"${blanks}:${blanks}[1${blanks},2],"b":2${blanks}}`, { a: [1, 2], b: 2 }],
    [`["${letters}",1]`, [letters, 1]],
    [`{"${letters}":1,"b":2}`, { [letters]: 1, b: 2 }],
  ] as const) {
    const { value: found, steps } = parsed(text, 16);
    expect(found).toEqual(value);
    expect(steps).toBeGreaterThanOrEqual(2);
    expect(parsed(text, 1024 * 1024 * 1024).value).toEqual(value);
  }
  expect(parsed(`${blanks}[]`, 16).steps).toBeGreaterThanOrEqual(4);
  expect(parsed(`[]${blanks}`, 16).value).toEqual([]);
  expect(() => parsed(`[]${blanks}x`, 16)).toThrow(MalformedJsonError);
});
