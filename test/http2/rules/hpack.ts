import { Flag } from '../../../src/http2/frames';
import { headers } from '../../../src/http2/wire.fixture';
import { hex, type Rule } from './rule';

/** `:method: GET`, `:path: /`, `:scheme: https`, and whatever follows. */
const request = (text: string, streamId = 7): Buffer => headers(streamId, hex(`828487 ${text}`), Flag.END_STREAM);

const wrong = (section: string, rule: string, ...sent: Buffer[]): Rule => ({
  section,
  rule,
  sent,
  outcome: 'connection COMPRESSION_ERROR',
  requests: sent.length - 1,
});

const right = (section: string, rule: string, expected: Record<string, string>, ...sent: Buffer[]): Rule => ({
  section,
  rule,
  sent,
  outcome: 'accepted',
  requests: sent.length,
  request: { headers: expected },
});

/** `a: b`, remembered. */
const REMEMBERED = '40 01 61 01 62';

/** RFC 7541: how headers are compressed. */
export const hpackRules: readonly Rule[] = [
  right(
    '2.3.2',
    'the dynamic table lasts as long as its connection',
    { a: 'b' },
    request(REMEMBERED),
    request('be', 9),
  ),
  right(
    '2.3.2',
    'it may have a field twice',
    { a: 'b, b' },
    request(`${REMEMBERED} ${REMEMBERED}`),
    request('be bf', 9),
  ),
  right(
    '2.3.3',
    'the newest field has the lowest index',
    { c: 'd', a: 'b' },
    request(`${REMEMBERED} 40 01 63 01 64`),
    request('be bf', 9),
  ),
  wrong('2.3.3', 'an index beyond the tables is an error', request('be')),
  wrong('2.3.3', 'so is one beyond the fields that there are', request(REMEMBERED), request('bf', 9)),
  right('3.2', 'a field may refer to one of its own block', { a: 'b, b' }, request(`${REMEMBERED} be`)),
  right(
    '4.1',
    'a field counts 32 bytes more than its texts: it fits',
    { a: 'b' },
    headers(7, hex(`3f03 828487 ${REMEMBERED}`), Flag.END_STREAM),
    request('be', 9),
  ),
  wrong(
    '4.1',
    'a field counts 32 bytes more than its texts: it does not',
    headers(7, hex(`3f02 828487 ${REMEMBERED}`), Flag.END_STREAM),
    request('be', 9),
  ),
  wrong(
    '4.2',
    'a table is no larger than SETTINGS_HEADER_TABLE_SIZE',
    headers(7, hex('3fe21f 828487'), Flag.END_STREAM),
  ),
  right(
    '4.2',
    'its size may change at the beginning of a block, twice',
    { a: 'b' },
    headers(7, hex(`20 3fe11f 828487 ${REMEMBERED}`), Flag.END_STREAM),
  ),
  wrong('4.2', 'not later in a block', request('20')),
  wrong(
    '4.3',
    'a smaller table forgets its oldest fields',
    request(REMEMBERED),
    headers(9, hex('20 3fe11f 828487 be'), Flag.END_STREAM),
  ),
  wrong(
    '4.4',
    'a field larger than the table empties it',
    request(REMEMBERED),
    headers(9, hex(`3f22 828487 40 01 63 7f 01 ${'78'.repeat(128)}`), Flag.END_STREAM),
    request('be', 11),
  ),
  right('5.1', 'numbers may have several bytes', { 'www-authenticate': 'x' }, request('0f 2e 01 78')),
  right('5.1', 'numbers may have more bytes than they need', { 'www-authenticate': 'x' }, request('0f ae 00 01 78')),
  wrong('5.1', 'numbers beyond all reason are errors', request('ff ff ff ff ff 7f')),
  wrong('5.1', 'numbers end', request('ff 80 80 80 80 80 80')),
  wrong('5.1', 'numbers end within their block', request('ff')),
  wrong('5.2', 'texts end within their block', request('00 01 61 05 62')),
  right(
    '5.2',
    "texts may be in Huffman's code",
    { 'custom-key': 'custom-value' },
    request('40 88 25a849e95ba97d7f 89 25a849e95bb8e8b4bf'),
  ),
  wrong('5.2', 'padding has less than eight bits', request('00 01 61 82 1fff')),
  wrong('5.2', 'padding is all ones', request('00 01 61 81 18')),
  wrong('5.2', 'EOS is not within a text', request('00 01 61 84 ffffffff')),
  wrong('6.1', 'index 0 is none', request('80')),
  right('6.2.1', 'a literal that is remembered', { a: 'b' }, request(REMEMBERED), request('be', 9)),
  wrong('6.2.2', 'a literal that is not', request('00 01 61 01 62'), request('be', 9)),
  wrong('6.2.3', 'a literal that never is', request('10 01 61 01 62'), request('be', 9)),
  right(
    '6.2',
    'a literal may have the name of another field',
    { a: 'c' },
    request(REMEMBERED),
    request('0f 2f 01 63', 9),
  ),
  wrong('6.2', 'of one that there is', request('0f 2f 01 63')),
  { section: '7.1.3', rule: 'sensitive fields are not remembered', leftOut: 'for encoders; ours remembers nothing' },
  {
    section: '4.2',
    rule: 'a client acknowledges a smaller table by a change of its size',
    leftOut: 'the size that we announce never changes',
  },
  { section: 'C', rule: 'the examples', elsewhere: 'src/http2/hpack.test.ts' },
];
