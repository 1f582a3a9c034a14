/** As much of HPACK (RFC 7541) as a measurement needs: requests without a header table, and the status of an answer. */

import type { LoadRequest, Target } from './job';

/** Of the static table; 1 to 61. */
const STATIC_NAMES: Readonly<Record<string, number>> = {
  ':authority': 1,
  ':method': 2,
  ':path': 4,
  accept: 19,
  authorization: 23,
  'user-agent': 58,
};
const INDEXED = 0x80;
const METHOD_GET = 2;
const SCHEME_HTTPS = 7;
/** From here on the static table holds these. */
const STATUS_INDEX = 8;
const STATUSES = [200, 204, 206, 304, 400, 404, 500];
const TABLE_SIZE_MASK = 0xe0;
const TABLE_SIZE = 0x20;
const HUFFMAN = 0x80;
const HUFFMAN_DIGITS = [
  '00000',
  '00001',
  '00010',
  '011001',
  '011010',
  '011011',
  '011100',
  '011101',
  '011110',
  '011111',
];
const HUFFMAN_DIGIT = new RegExp(HUFFMAN_DIGITS.join('|'), 'g');

/** Plain literals, which no table remembers: the block is the same each time. */
export function encodeRequestHead({ host, port }: Target, { method, path, headers = {} }: LoadRequest): Buffer {
  return Buffer.concat([
    method === 'GET' ? Buffer.of(INDEXED | METHOD_GET) : literal(':method', method),
    Buffer.of(INDEXED | SCHEME_HTTPS),
    literal(':authority', `${host}:${port}`),
    literal(':path', path),
    ...Object.entries(headers).map(([name, value]) => literal(name.toLowerCase(), value)),
  ]);
}

function literal(name: string, value: string): Buffer {
  const index = STATIC_NAMES[name];
  return Buffer.concat([
    Buffer.from(index === undefined ? [0] : integer(index, 4)),
    ...(index === undefined ? [string(name)] : []),
    string(value),
  ]);
}

function string(text: string): Buffer {
  return Buffer.concat([Buffer.from(integer(text.length, 7)), Buffer.from(text, 'latin1')]);
}

/** RFC 7541, section 5.1: a number that begins in the last bits of a byte. */
function integer(value: number, bits: number): readonly number[] {
  const limit = (1 << bits) - 1;
  if (value < limit) return [value];
  const bytes = [limit];
  let rest = value - limit;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

/** RFC 9113, section 8.3: pseudo-headers come first, and an answer has only the status. */
export function readStatus(block: Buffer): number {
  let at = 0;
  while ((block.readUInt8(at) & TABLE_SIZE_MASK) === TABLE_SIZE) at++;
  const first = block.readUInt8(at);
  if ((first & INDEXED) !== 0) return STATUSES[(first & ~INDEXED) - STATUS_INDEX] ?? NaN;
  const length = block.readUInt8(at + 1);
  const value = block.subarray(at + 2, at + 2 + (length & ~HUFFMAN));
  return Number((length & HUFFMAN) === 0 ? value.toString('latin1') : huffmanDigits(value));
}

function huffmanDigits(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const codes = bits.match(HUFFMAN_DIGIT) ?? [];
  return codes.map((code) => HUFFMAN_DIGITS.indexOf(code)).join('');
}
