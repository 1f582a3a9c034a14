/** As much of HPACK (RFC 7541) as a measurement needs: requests without a header table, and the status of an answer. */

/** Of the static table; 1 to 61. */
const STATIC_NAMES = {
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
function encodeRequestHead({ host, port }, { method, path, headers }) {
  return Buffer.concat([
    method === 'GET' ? Buffer.of(INDEXED | METHOD_GET) : literal(':method', method),
    Buffer.of(INDEXED | SCHEME_HTTPS),
    literal(':authority', `${host}:${port}`),
    literal(':path', path),
    ...Object.entries(headers).map(([name, value]) => literal(name.toLowerCase(), value)),
  ]);
}

function literal(name, value) {
  const index = STATIC_NAMES[name];
  return Buffer.concat([
    Buffer.from(index === undefined ? [0] : integer(index, 4)),
    ...(index === undefined ? [string(name)] : []),
    string(value),
  ]);
}

function string(text) {
  return Buffer.concat([Buffer.from(integer(text.length, 7)), Buffer.from(text, 'latin1')]);
}

/** RFC 7541, section 5.1: a number that begins in the last bits of a byte. */
function integer(value, bits) {
  const limit = (1 << bits) - 1;
  if (value < limit) return [value];
  const bytes = [limit];
  let rest = value - limit;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

/** RFC 9113, section 8.3: pseudo-headers come first, and an answer has only the status. */
function readStatus(block) {
  let at = 0;
  while ((block[at] & TABLE_SIZE_MASK) === TABLE_SIZE) at++;
  if ((block[at] & INDEXED) !== 0) return STATUSES[(block[at] & ~INDEXED) - STATUS_INDEX];
  const value = block.subarray(at + 2, at + 2 + (block[at + 1] & ~HUFFMAN));
  return Number((block[at + 1] & HUFFMAN) === 0 ? value.latin1Slice() : huffmanDigits(value));
}

function huffmanDigits(bytes) {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits
    .match(HUFFMAN_DIGIT)
    .map((code) => HUFFMAN_DIGITS.indexOf(code))
    .join('');
}

module.exports = { encodeRequestHead, readStatus };
