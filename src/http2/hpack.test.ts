import fc from 'fast-check';
import { HeaderTable } from './header-table';
import { encodeHeaders, readHeaderBlock } from './hpack';
import { Http2Error } from './http2-error';
import { decodeHuffman } from './huffman';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const NO_TABLE = new HeaderTable(0);

function read(block: Buffer, table = NO_TABLE): Record<string, string> {
  const headers: Record<string, string> = {};
  readHeaderBlock(block, table, ({ name, value }) => {
    headers[name] = value;
    return true;
  });
  return headers;
}

const decode = (text: string, table = NO_TABLE): Record<string, string> => read(hex(text), table);

const HUFFMAN_DATE = 'd07a be94 1054 d444 a820 0595 040b 8166';
const COOKIE = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';

describe('thousands of references that nobody wants any more', () => {
  const COUNT = 4_000;

  it('are not looked up, but for those that the table may not have', () => {
    const table = new HeaderTable(4_096);
    read(hex('40 01 61 01 62'), table);
    const get = jest.spyOn(table, 'get');
    const block = Buffer.concat([hex('82'), Buffer.alloc(COUNT, hex('be 82 84')), hex('40 01 63 01 64 bf be')]);
    const taken: string[] = [];
    readHeaderBlock(block, table, ({ name }) => taken.push(name) === 0);
    expect(taken).toEqual([':method']);
    expect(get).toHaveBeenCalledTimes(1);
    expect(read(hex('be bf'), table)).toEqual({ c: 'd', a: 'b' });
  });

  it.each(['bf', 'ff 00', 'ff 80 01', '80'])('end with %s, which the table does not have', (reference) => {
    const table = new HeaderTable(4_096);
    read(hex('40 01 61 01 62'), table);
    const block = Buffer.concat([hex('82'), Buffer.alloc(COUNT, 0xbe), hex(reference)]);
    expect(() => readHeaderBlock(block, table, () => false)).toThrow('there is no header field with index');
  });
});

describe('header blocks', () => {
  it.each([
    ['C.2.1', '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', { 'custom-key': 'custom-header' }],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', { ':path': '/sample/path' }],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', { password: 'secret' }],
    ['C.2.4', '82', { ':method': 'GET' }],
    [
      'C.3.1',
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      { ':method': 'GET', ':scheme': 'http', ':path': '/', ':authority': 'www.example.com' },
    ],
    [
      'C.4.1',
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      { ':method': 'GET', ':scheme': 'http', ':path': '/', ':authority': 'www.example.com' },
    ],
    [
      'C.5.1',
      `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e
       1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`.replaceAll(/\s+/g, ''),
      {
        ':status': '302',
        'cache-control': 'private',
        date: 'Mon, 21 Oct 2013 20:13:21 GMT',
        location: 'https://www.example.com',
      },
    ],
    [
      'C.6.1',
      `4882 6402 5885 aec3 771a 4b61 96${HUFFMAN_DATE} e082 a62d 1bff 6e91 9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3`,
      {
        ':status': '302',
        'cache-control': 'private',
        date: 'Mon, 21 Oct 2013 20:13:21 GMT',
        location: 'https://www.example.com',
      },
    ],
  ])('are read as in example %s of RFC 7541', (_, block, headers) => {
    expect(decode(block)).toEqual(headers);
  });

  // The later requests and responses of C.3 to C.6 refer to what the earlier ones had remembered.
  it.each([
    ['C.3.2', '8286 84be 5808 6e6f 2d63 6163 6865'],
    ['C.4.3', '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf'],
    ['C.5.2', '4803 3330 37c1 c0bf'],
    ['C.6.2', '4883 640e ffc1 c0bf'],
  ])('that refer to a dynamic table, as %s does, are refused where there is none', (_, block) => {
    expect(() => decode(block)).toThrow('there is no header field with index');
  });

  const request = { ':method': 'GET', ':scheme': 'http', ':path': '/', ':authority': 'www.example.com' };
  const custom = { ...request, ':scheme': 'https', ':path': '/index.html', 'custom-key': 'custom-value' };
  const redirect = { 'cache-control': 'private', location: 'https://www.example.com' };
  it.each([
    [
      'C.3',
      4096,
      [
        ['8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d', request],
        ['8286 84be 5808 6e6f 2d63 6163 6865', { ...request, 'cache-control': 'no-cache' }],
        ['8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65', custom],
      ],
    ],
    [
      'C.4',
      4096,
      [
        ['8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', request],
        ['8286 84be 5886 a8eb 1064 9cbf', { ...request, 'cache-control': 'no-cache' }],
        ['8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf', custom],
      ],
    ],
    [
      'C.6',
      256,
      [
        [
          `4882 6402 5885 aec3 771a 4b61 96${HUFFMAN_DATE} e082 a62d 1bff 6e91 9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3`,
          { ...redirect, ':status': '302', date: 'Mon, 21 Oct 2013 20:13:21 GMT' },
        ],
        ['4883 640e ffc1 c0bf', { ...redirect, ':status': '307', date: 'Mon, 21 Oct 2013 20:13:21 GMT' }],
        [
          `88c1 6196${HUFFMAN_DATE} e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708
           7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`.replaceAll(/\s+/g, ''),
          {
            ...redirect,
            ':status': '200',
            date: 'Mon, 21 Oct 2013 20:13:22 GMT',
            'content-encoding': 'gzip',
            'set-cookie': COOKIE,
          },
        ],
      ],
    ],
  ] as const)('of one connection are read as in example %s of RFC 7541', (_, tableBytes, blocks) => {
    const table = new HeaderTable(tableBytes);
    for (const [block, headers] of blocks) expect(decode(block, table)).toEqual(headers);
  });

  it.each([
    ['a block cut in a name', '400a 6375', 'ends too early'],
    ['a block cut in a number', '7f', 'ends too early'],
    ['an index of 0', '80', 'index 0'],
    ['a number without end', 'ff ff ff ff ff ff ff', 'too large'],
    ['a header table', '3f e1 1f', 'larger than we allow'],
    ['a change of the table in the middle', '82 20', 'changes within a block'],
  ])('with %s are refused', (_, block, message) => {
    expect(() => decode(block)).toThrow(Http2Error);
    expect(() => decode(block)).toThrow(message);
  });

  it('are read to their end for the table when nobody wants more of them', () => {
    const table = new HeaderTable(4096);
    const taken: string[] = [];
    // :method, an unremembered field of a new name and of a known one, a remembered field, :method again.
    const block = hex('82 00 01 61 01 62 04 01 2f 40 01 63 01 64 82');
    readHeaderBlock(block, table, ({ name }) => taken.push(name) > 1);
    expect(taken).toEqual([':method']);
    expect(table.get(62)).toMatchObject({ name: 'c', value: 'd' });
    expect(() => readHeaderBlock(hex('82 00 01 61 05 62'), table, () => false)).toThrow('ends too early');
    expect(() => readHeaderBlock(hex('82 c0'), table, () => false)).toThrow('there is no header field');
  });

  it('may say that there is no table', () => {
    expect(decode('20 88')).toEqual({ ':status': '200' });
  });

  it('are written with what the static table has, and come back', () => {
    expect(encodeHeaders({ ':method': 'POST', ':scheme': 'https' })).toEqual(hex('83 87'));
    const headers = {
      ':path': '/a',
      ':authority': 'host:2379',
      'content-type': 'application/grpc',
      long: 'x'.repeat(300),
    };
    expect(read(encodeHeaders(headers))).toEqual(headers);
  });

  it('come back whatever they say, and with every value', () => {
    const name = fc.stringMatching(/^[a-z-]{1,20}$/);
    const text = fc.string({ maxLength: 300 }).map((value) => Buffer.from(value).toString('latin1'));
    const fields = fc.dictionary(name, fc.oneof(text, fc.array(text, { maxLength: 3 })));
    fc.assert(
      fc.property(fields, (sent) => {
        const received: [string, string][] = [];
        readHeaderBlock(encodeHeaders(sent), NO_TABLE, ({ name, value }) => received.push([name, value]) > 0);
        expect(received).toEqual(
          Object.entries(sent).flatMap(([key, value]) => [value].flat().map((one) => [key, one])),
        );
      }),
    );
  });
});

describe("Huffman's code", () => {
  it.each([
    ['www.example.com', 'f1e3 c2e5 f23a 6ba0 ab90 f4ff'],
    ['no-cache', 'a8eb 1064 9cbf'],
    ['custom-key', '25a8 49e9 5ba9 7d7f'],
    ['custom-value', '25a8 49e9 5bb8 e8b4 bf'],
    ['302', '6402'],
    ['private', 'aec3 771a 4b'],
    ['Mon, 21 Oct 2013 20:13:21 GMT', `${HUFFMAN_DATE} e082 a62d 1bff`],
    ['https://www.example.com', '9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3'],
    ['307', '640e ff'],
    ['Mon, 21 Oct 2013 20:13:22 GMT', `${HUFFMAN_DATE} e084 a62d 1bff`],
    ['gzip', '9bd9 ab'],
    [
      COOKIE,
      '94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
    ],
    ['', ''],
  ])('of %j is read as in RFC 7541', (text, code) => {
    expect(decodeHuffman(hex(code))).toBe(text);
  });

  it.each([
    ['padding of zeros', '00'],
    ['a whole byte of padding', '6402 ff'],
    ['the end within', 'ff ff ff ff'],
  ])('with %s is refused', (_, code) => {
    expect(() => decodeHuffman(hex(code))).toThrow(Http2Error);
  });
});
