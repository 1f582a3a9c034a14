import fc from 'fast-check';
import { HeaderTable, judged, staticTable, type HeaderField } from '../../http2/header-table';
import { encodeHeaders } from '../../http2/hpack';
import { Http2Error } from '../../http2/http2-error';
import {
  MAX_FIELDS,
  MAX_HEADER_LIST_BYTES,
  readRequestHead,
  readTrailers,
  type HeadFault,
  type RequestHead,
} from './request-head';

type Fields = readonly (readonly [name: string, value: string])[];

const PSEUDO: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/api?watch=1'],
  [':authority', 'host:6443'],
];

const withPseudo = (name: string, value: string): Fields =>
  PSEUDO.map(([key, text]) => [key, key === name ? value : text] as const);

/** Fields in any order and number, which an object of headers could not say. */
const encode = (fields: Fields): Buffer =>
  Buffer.concat(fields.map(([name, value]) => encodeHeaders({ [name]: value })));
const read = (...fields: Fields): RequestHead | HeadFault => readRequestHead(encode(fields), new HeaderTable(0));

function headOf(...fields: Fields): RequestHead {
  const head = read(...PSEUDO, ...fields);
  if (typeof head === 'string') throw new Error(`the head is ${head}`);
  return head;
}

/** A field that the reader is to remember (RFC 7541, 6.2.1). Short ones only. */
function remembered({ name, value }: Pick<HeaderField, 'name' | 'value'>): Buffer {
  return Buffer.concat([
    Buffer.from([0x40, name.length]),
    Buffer.from(name, 'latin1'),
    Buffer.from([value.length]),
    Buffer.from(value, 'latin1'),
  ]);
}

describe('the head of a request', () => {
  it('says method, URL and host in pseudo headers', () => {
    expect(headOf(['accept', 'application/json'])).toEqual({
      method: 'GET',
      url: '/api?watch=1',
      headers: { host: 'host:6443', accept: 'application/json' },
      repeated: undefined,
      bytes: 240,
    });
  });

  it('may name its host in a header instead', () => {
    expect(read(...PSEUDO.slice(0, 3), ['host', 'other'])).toMatchObject({ headers: { host: 'other' } });
    expect(read(...PSEUDO.slice(0, 3))).toMatchObject({ headers: {} });
  });

  it('may name its host twice when that is the same', () => {
    expect(headOf(['host', 'HOST:6443'], ['host', 'host:6443']).headers.host).toBe('host:6443');
  });

  it('is a CONNECT with an authority and nothing else', () => {
    expect(read([':method', 'CONNECT'], [':authority', 'a:1'])).toMatchObject({ method: 'CONNECT', url: 'a:1' });
  });

  it('may ask for the options of the whole server', () => {
    expect(read([':method', 'OPTIONS'], [':scheme', 'https'], [':path', '*'])).toMatchObject({ url: '*' });
  });

  it('may come in any order as long as pseudo headers are first', () => {
    expect(read(...[...PSEUDO].reverse())).toMatchObject({ method: 'GET', url: '/api?watch=1' });
  });

  it.each([
    [' b', 'b'],
    ['b\t', 'b'],
    ['\t b c  ', 'b c'],
    [' ', ''],
  ])('has a user agent without the blanks around it: %j', (sent, value) => {
    expect(headOf(['user-agent', sent]).headers).toMatchObject({ 'user-agent': value });
  });

  it.each<[string, Fields]>([
    ['without a method', PSEUDO.filter(([name]) => name !== ':method')],
    ['without a scheme', PSEUDO.filter(([name]) => name !== ':scheme')],
    ['without a path', PSEUDO.filter(([name]) => name !== ':path')],
    ['with an empty path', [...PSEUDO.filter(([name]) => name !== ':path'), [':path', '']]],
    ['that is empty', []],
    ['with a pseudo header of answers', [...PSEUDO, [':status', '200']]],
    ['with a pseudo header that nobody knows', [...PSEUDO, [':proto', 'x']]],
    ['with a pseudo header of WebSockets', [...PSEUDO, [':protocol', 'websocket']]],
    ['with two paths', [...PSEUDO, [':path', '/api?watch=1']]],
    ['with two methods, one of them empty', [[':method', ''], ...PSEUDO]],
    ['with a pseudo header after others', [...PSEUDO.slice(1), ['accept', '*/*'], PSEUDO[0]!]],
    ['with capitals in a name', [...PSEUDO, ['Accept', '*/*']]],
    ['with a name that is empty', [...PSEUDO, ['', 'x']]],
    ['with a space in a name', [...PSEUDO, ['a b', 'x']]],
    ['with a colon in a name', [...PSEUDO, ['a:b', 'x']]],
    ['with a byte beyond ASCII in a name', [...PSEUDO, ['\u00e4', 'x']]],
    ['with a control character in a name', [...PSEUDO, ['a\r\nb', 'x']]],
    ['with a zero in a value', [...PSEUDO, ['a', 'x\0y']]],
    ['with a carriage return in a value', [...PSEUDO, ['a', 'x\ry']]],
    ['with a line feed in a value', [...PSEUDO, ['a', 'x\ny']]],
    ['with a DEL in a value', [...PSEUDO, ['a', 'x\x7fy']]],
    ['with a line feed in its path', [...PSEUDO.filter(([name]) => name !== ':path'), [':path', '/\nx']]],
    ['with a tab after its path', [...PSEUDO.filter(([name]) => name !== ':path'), [':path', '/x\t']]],
    ['with a tab after its authority', [...PSEUDO.filter(([name]) => name !== ':authority'), [':authority', 'a\t']]],
    ['with connection', [...PSEUDO, ['connection', 'close']]],
    ['with keep-alive', [...PSEUDO, ['keep-alive', '5']]],
    ['with proxy-connection', [...PSEUDO, ['proxy-connection', 'close']]],
    ['with transfer-encoding', [...PSEUDO, ['transfer-encoding', 'chunked']]],
    ['with upgrade', [...PSEUDO, ['upgrade', 'websocket']]],
    ['with a te that says more than trailers', [...PSEUDO, ['te', 'trailers, gzip']]],
    ['with a length that is no number', [...PSEUDO, ['content-length', '1a']]],
    ['with a length below 0', [...PSEUDO, ['content-length', '-1']]],
    ['with a space at the beginning of a value', [...PSEUDO, ['a', ' b']]],
    ['with a tab at the end of a value', [...PSEUDO, ['a', 'b\t']]],
    ['with nothing but a space in a value', [...PSEUDO, ['a', ' ']]],
    ['with a line feed at the end of its user agent', [...PSEUDO, ['user-agent', 'a\n']]],
    ['with an empty length', [...PSEUDO, ['content-length', '']]],
    ['with a length beyond reckoning', [...PSEUDO, ['content-length', '9'.repeat(16)]]],
    ['with a path that is an address', withPseudo(':path', 'https://host/')],
    ['with a path without its slash', withPseudo(':path', 'api')],
    ['with a path of all but for OPTIONS', withPseudo(':path', '*')],
    ['with a space in its path', withPseudo(':path', '/a b')],
    ['with a space in its method', withPseudo(':method', 'GET /')],
    ['with a method that is no word', withPseudo(':method', 'GE(T')],
    ['with another scheme', withPseudo(':scheme', 'ftp')],
    ['with a user in its authority', withPseudo(':authority', 'me@host')],
    ['with a path in its authority', withPseudo(':authority', 'host/api')],
    ['with a space in its authority', withPseudo(':authority', 'a b')],
    ['with another host', [...PSEUDO, ['host', 'other']]],
    ['with two hosts', [...PSEUDO.slice(0, 3), ['host', 'one'], ['host', 'two']]],
    ['with a path for CONNECT', withPseudo(':method', 'CONNECT')],
    ['with a scheme for CONNECT', withPseudo(':method', 'CONNECT').filter(([name]) => name !== ':path')],
    ['with no authority for CONNECT', [[':method', 'CONNECT']]],
    ['with two lengths', [...PSEUDO, ['content-length', '1'], ['content-length', '2']]],
  ])('%s is malformed', (_, fields) => {
    expect(read(...fields)).toBe('malformed');
  });

  it('may say that its client takes trailers', () => {
    expect(headOf(['te', 'trailers']).headers.te).toBe('trailers');
  });

  it('may have tabs and any byte beyond ASCII in a value', () => {
    expect(headOf(['a', 'x\ty \u00ff']).headers.a).toBe('x\ty \u00ff');
  });

  describe('with a name that comes several times', () => {
    it('has the values of cookies together, as a client may have taken them apart', () => {
      expect(headOf(['cookie', 'a=1'], ['cookie', 'b=2'], ['cookie', 'c=3']).headers.cookie).toBe('a=1; b=2; c=3');
    });

    it('has the values of others as a list, and each by itself', () => {
      const head = headOf(
        ['x-remote-group', 'a, b'],
        ['accept', '*/*'],
        ['x-remote-group', 'c'],
        ['x-remote-group', ''],
      );
      expect(head.headers).toMatchObject({ 'x-remote-group': 'a, b, c, ', accept: '*/*' });
      expect([...head.repeated!]).toEqual([['x-remote-group', ['a, b', 'c', '']]]);
    });

    it.each(['authorization', 'content-type', 'user-agent', 'if-modified-since'])(
      'has the first %s, of which there can be one only',
      (name) => {
        const head = read(...PSEUDO.slice(0, 3), [name, 'first'], [name, 'second']) as RequestHead;
        expect(head.headers[name]).toBe('first');
        expect(head.repeated?.get(name)).toEqual(['first', 'second']);
      },
    );

    it('may say its length twice as long as that is the same', () => {
      expect(headOf(['content-length', '7'], ['content-length', '7']).headers['content-length']).toBe('7');
    });
  });

  it('may have a header whose name every object knows', () => {
    expect(headOf(['constructor', 'a']).headers.constructor).toBe('a');
    expect(headOf(['constructor', 'a'], ['constructor', 'b']).headers.constructor).toBe('a, b');
  });

  it('inherits nothing, and may have a header named __proto__', () => {
    const { headers } = headOf(['__proto__', 'a'], ['__proto__', 'b'], ['accept', '*/*']);
    expect(Object.entries(headers)).toEqual([
      ['__proto__', 'a, b'],
      ['accept', '*/*'],
      ['host', 'host:6443'],
    ]);
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) expect(headers[name]).toBeUndefined();
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  describe('that is large', () => {
    const overhead = 32;
    const soFar = PSEUDO.reduce((sum, [name, value]) => sum + name.length + value.length + overhead, 0);
    const filling = (bytes: number): Fields[number] => ['a', 'x'.repeat(bytes - soFar - 1 - overhead)];

    it('is taken up to its limit', () => {
      expect(headOf(filling(MAX_HEADER_LIST_BYTES)).method).toBe('GET');
    });

    it('is too large beyond that, whatever else is wrong with it after that', () => {
      expect(read(...PSEUDO, filling(MAX_HEADER_LIST_BYTES + 1))).toBe('too large');
      expect(read(...PSEUDO, filling(MAX_HEADER_LIST_BYTES + 1), ['A', '\0'])).toBe('too large');
    });

    it('is too large with more fields than there may be', () => {
      const fields = (count: number): Fields => Array.from({ length: count }, (): Fields[number] => ['a', '']);
      expect(headOf(...fields(MAX_FIELDS - PSEUDO.length)).repeated?.get('a')).toHaveLength(MAX_FIELDS - PSEUDO.length);
      expect(read(...PSEUDO, ...fields(MAX_FIELDS - PSEUDO.length + 1))).toBe('too large');
    });

    it('costs no look at a text that it only refers to, and none after its limit', () => {
      const table = new HeaderTable(4096);
      const name = 'x'.repeat(100);
      readRequestHead(remembered({ name, value: 'y'.repeat(120) }), table);
      const before = { ...judged };
      const named = Buffer.from([0x0f, 62 - 15, 1, 0x61]);
      const times = Math.floor(MAX_HEADER_LIST_BYTES / 300);
      for (const head of ['too large', 'fine']) {
        const block = [encode(PSEUDO), ...Array.from({ length: times }, () => Buffer.from([0xbe]))];
        const more = head === 'fine' ? [named, named] : Array.from({ length: 2_000 }, () => named);
        const read = readRequestHead(Buffer.concat([...block, ...more]), table);
        expect(typeof read === 'string' ? read : 'fine').toBe(head);
      }
      expect(judged.names - before.names).toBeLessThanOrEqual(2 * PSEUDO.length);
      // A value of one byte each, until the limit was reached.
      expect(judged.values - before.values).toBeLessThan(MAX_HEADER_LIST_BYTES / 100);
    });

    it('is not looked at beyond what there is room for, and leaves the table what its client thinks it is', () => {
      const table = new HeaderTable(4096);
      const long = { name: 'a', value: 'x'.repeat(120) };
      const index = Buffer.from([0x80 | (staticTable.length + 1)]);
      const block = [encode(PSEUDO), remembered(long), ...Array.from({ length: 100 }, () => index)];
      const before = { ...judged };
      const last = { name: 'b', value: 'y' };
      expect(readRequestHead(Buffer.concat([...block, remembered(last)]), table, 200)).toBe('no room');
      expect(judged.values - before.values).toBeLessThanOrEqual(PSEUDO.length);
      expect(table.get(staticTable.length + 1)).toMatchObject(last);
      expect(table.get(staticTable.length + 2)).toMatchObject(long);
      expect(readRequestHead(encode(PSEUDO), table, 200)).toMatchObject({ method: 'GET' });
    });

    it('is too large when few bytes mean many, by way of the table', () => {
      const table = new HeaderTable(4096);
      const field = { name: 'a', value: 'x'.repeat(120) };
      const index = Buffer.from([0x80 | (staticTable.length + 1)]);
      const times = Math.ceil(MAX_HEADER_LIST_BYTES / 153);
      const block = Buffer.concat([encode(PSEUDO), remembered(field), ...Array.from({ length: times }, () => index)]);
      expect(block.length).toBeLessThan(10_000);
      expect(readRequestHead(block, table)).toBe('too large');
    });
  });

  describe('that is refused', () => {
    it.each<[HeadFault, Fields]>([
      [
        'malformed',
        [
          ['Bad', 'x'],
          ['a', 'y'],
        ],
      ],
      ['too large', [['a', 'x'.repeat(MAX_HEADER_LIST_BYTES)]]],
    ])('as %s is still read to its end, so that the next ones may refer to it', (fault, fields) => {
      const table = new HeaderTable(4096);
      const later = remembered({ name: 'later', value: 'known' });
      expect(readRequestHead(Buffer.concat([encode(PSEUDO), encode(fields), later]), table)).toBe(fault);
      const next = Buffer.concat([encode(PSEUDO), Buffer.from([0x80 | (staticTable.length + 1)])]);
      expect(readRequestHead(next, table)).toMatchObject({ headers: { later: 'known' } });
    });
  });

  it('that cannot be read is an error of the connection', () => {
    const index = Buffer.from([0x80 | (staticTable.length + 1)]);
    expect(() => readRequestHead(index, new HeaderTable(4096))).toThrow(Http2Error);
    expect(() => readTrailers(index, new HeaderTable(4096))).toThrow(Http2Error);
  });
});

it.each<[HeadFault | undefined, string, Fields]>([
  [undefined, 'what they should be', [['checksum', '1']]],
  ['malformed', 'capitals', [['Bad', 'x']]],
  ['malformed', 'a zero', [['a', '\0']]],
  ['malformed', 'a pseudo header', [[':path', '/']]],
  ['malformed', 'what belongs to a connection', [['connection', 'close']]],
  ['too large', 'too much', [['a', 'x'.repeat(MAX_HEADER_LIST_BYTES)]]],
  ['too large', 'too many', Array.from({ length: MAX_FIELDS + 1 }, () => ['a', ''] as const)],
])('trailers are %s when they say %s, and what they want remembered is', (fault, _, fields) => {
  const table = new HeaderTable(4096);
  expect(readTrailers(Buffer.concat([encode(fields), remembered({ name: 'a', value: 'b' })]), table)).toBe(fault);
  const next = Buffer.concat([encode(PSEUDO), Buffer.from([0x80 | (staticTable.length + 1)])]);
  expect(readRequestHead(next, table)).toMatchObject({ headers: { a: 'b' } });
});

describe('whatever fields come', () => {
  const name = fc.oneof(
    fc.constantFrom(':method', ':path', ':scheme', ':authority', ':status', 'cookie', 'host', 'te', 'content-length'),
    fc.constantFrom('a', 'B', '__proto__', 'constructor', 'connection', ''),
    fc.string({ maxLength: 5 }),
  );
  const value = fc.oneof(fc.constantFrom('1', '2', '', 'trailers', '/'), fc.string({ maxLength: 5 }));
  const fields = fc.array(fc.tuple(name, value), { maxLength: 8 });

  it('they are a fault, or a head that says no more than they did', () => {
    const beginning = fc.constantFrom<Fields>([], PSEUDO, PSEUDO.slice(0, 3));
    fc.assert(
      fc.property(beginning, fields, (first, rest) => {
        const all = [...first, ...rest].map(([key, text]) => [key, Buffer.from(text).toString('latin1')] as const);
        const head = read(...all);
        if (typeof head === 'string') return expect(head).toBe('malformed');
        const said = (wanted: string): readonly string[] =>
          all.filter(([key]) => key === wanted).map(([, text]) => text);
        const one = (wanted: string): string | undefined => all.find(([key]) => key === wanted)?.[1];
        expect({ method: head.method, url: head.url }).toEqual({ method: one(':method'), url: one(':path') });
        for (const [key, text] of Object.entries(head.headers)) {
          const values = said(key);
          expect(key).toMatch(/^[^A-Z:]+$/);
          if (key === 'host') expect([one(':authority'), ...values]).toContain(text);
          else expect([values[0], values.join(', '), values.join('; ')]).toContain(text);
          expect(text).not.toMatch(/[\r\n]/);
        }
        for (const [key, values] of head.repeated ?? []) {
          expect(values).toEqual(said(key));
          expect(values.length).toBeGreaterThan(1);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('nothing but an error of the protocol is thrown, even for bytes that are no fields', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          const head = readRequestHead(Buffer.concat([encode(PSEUDO), bytes]), new HeaderTable(4096));
          expect(head === 'malformed' || head === 'too large' || typeof head === 'object').toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(Http2Error);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
