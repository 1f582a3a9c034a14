import { Flag, FrameType } from '../../../src/http2/frames';
import { data, frame, headers } from '../../../src/http2/wire.fixture';
import { block, get, getWith, PSEUDO, type Fields, onStream, type Rule } from './rule';

const MALFORMED = 'stream PROTOCOL_ERROR';

const malformed = (section: string, rule: string, request: Buffer): Rule => ({
  section,
  rule,
  sent: [request],
  outcome: MALFORMED,
});

const accepted = (section: string, rule: string, sent: Buffer, request: object): Rule => ({
  section,
  rule,
  sent: [sent],
  outcome: 'accepted',
  requests: 1,
  request,
});

const post = (...fields: Fields): Buffer => headers(7, block([[':method', 'POST'], ...PSEUDO.slice(1), ...fields]));
const trailers = (...fields: Fields): Buffer => headers(5, block(fields), Flag.END_STREAM);

/** RFC 9113, section 8: requests, and what makes them malformed. */
export const messageRules: readonly Rule[] = [
  {
    section: '8.1',
    rule: 'a request is HEADERS, DATA and trailers',
    sent: [data(5, 'body'), trailers(['checksum', '1'])],
    outcome: 'accepted',
    request: { body: 'body' },
  },
  {
    section: '8.1',
    rule: 'trailers end the request',
    sent: [headers(5, block([['checksum', '1']]))],
    outcome: MALFORMED,
  },
  { section: '8.1', rule: 'trailers have no pseudo-header', sent: [trailers([':path', '/'])], outcome: MALFORMED },
  { section: '8.1', rule: 'trailers are fields like others', sent: [trailers(['Bad', 'x'])], outcome: MALFORMED },
  {
    section: '8.1',
    rule: 'trailers are not of a connection',
    sent: [trailers(['connection', 'close'])],
    outcome: MALFORMED,
  },
  {
    section: '8.1',
    rule: 'an answer before the end of the request resets it with NO_ERROR',
    elsewhere: 'src/http/http2/server-connection-bodies.test.ts',
  },
  {
    section: '8.1.1',
    rule: 'DATA are as many as Content-Length says: more',
    sent: [post(['content-length', '3']), data(7, 'four')],
    outcome: MALFORMED,
    requests: 1,
  },
  {
    section: '8.1.1',
    rule: 'DATA are as many as Content-Length says: less',
    sent: [post(['content-length', '3']), data(7, 'ab', Flag.END_STREAM)],
    outcome: MALFORMED,
    requests: 1,
  },
  malformed('8.1.1', 'DATA are as many as Content-Length says: none', get(['content-length', '3'])),
  malformed('8.1.1', 'Content-Length is a number', get(['content-length', '1a'])),
  malformed('8.1.1', 'Content-Length is said once', get(['content-length', '0'], ['content-length', '1'])),
  {
    section: '8.1.1',
    rule: 'a malformed request does not disturb others',
    sent: [get(['Bad', 'x']), onStream(get(), 9)],
    outcome: MALFORMED,
    requests: 1,
  },
  malformed('8.2', 'names have no capitals', get(['Accept', 'x'])),
  malformed('8.2.1', 'names have no spaces', get(['a b', 'x'])),
  malformed('8.2.1', 'names have no control characters', get(['a\nb', 'x'])),
  malformed('8.2.1', 'names are ASCII', get(['\u00e4', 'x'])),
  malformed('8.2.1', 'names have no colon but that of pseudo-headers', get(['a:b', 'x'])),
  malformed('8.2.1', 'names are not empty', get(['', 'x'])),
  malformed('8.2.1', 'values have no zero', get(['a', 'x\0y'])),
  malformed('8.2.1', 'values have no line feed', get(['a', 'x\ny'])),
  malformed('8.2.1', 'values have no carriage return', get(['a', 'x\ry'])),
  malformed('8.2.1', 'values do not begin with a space', get(['a', ' x'])),
  malformed('8.2.1', 'values do not begin with a tab', get(['a', '\tx'])),
  malformed('8.2.1', 'values do not end with a space', get(['a', 'x '])),
  malformed('8.2.1', 'values do not end with a tab', get(['a', 'x\t'])),
  malformed('8.2.1', 'values of pseudo-headers are no different', getWith({ ':path': '/x ' })),
  accepted(
    '8.2.1',
    'values may be empty, and have spaces and any other byte within',
    get(['a', ''], ['b', 'x \t\u00ff']),
    {
      headers: { a: '', b: 'x \t\u00ff' },
    },
  ),
  malformed('8.2.2', 'no Connection', get(['connection', 'close'])),
  malformed('8.2.2', 'no Keep-Alive', get(['keep-alive', '5'])),
  malformed('8.2.2', 'no Proxy-Connection', get(['proxy-connection', 'close'])),
  malformed('8.2.2', 'no Transfer-Encoding', get(['transfer-encoding', 'chunked'])),
  malformed('8.2.2', 'no Upgrade', get(['upgrade', 'websocket'])),
  malformed('8.2.2', 'TE says trailers only', get(['te', 'gzip'])),
  accepted('8.2.2', 'TE may say trailers', get(['te', 'trailers']), { headers: { te: 'trailers' } }),
  accepted('8.2.3', 'cookies that were taken apart are put together', get(['cookie', 'a=1'], ['cookie', 'b=2']), {
    headers: { cookie: 'a=1; b=2' },
  }),
  malformed('8.3', 'pseudo-headers come first', headers(7, block([['a', 'b'], ...PSEUDO]), Flag.END_STREAM)),
  malformed('8.3', 'no unknown pseudo-header', getWith({}, [':proto', 'x'])),
  malformed('8.3', 'no pseudo-header of answers', headers(7, block([...PSEUDO, [':status', '200']]), Flag.END_STREAM)),
  malformed('8.3', 'no pseudo-header twice', headers(7, block([...PSEUDO, [':path', '/']]), Flag.END_STREAM)),
  malformed('8.3.1', ':method is there', getWith({ ':method': undefined })),
  malformed('8.3.1', ':scheme is there', getWith({ ':scheme': undefined })),
  malformed('8.3.1', ':path is there', getWith({ ':path': undefined })),
  malformed('8.3.1', ':path is not empty', getWith({ ':path': '' })),
  malformed('8.3.1', ':path begins with a slash', getWith({ ':path': 'api' })),
  malformed('8.3.1', ':path is no whole address', getWith({ ':path': 'https://host/api' })),
  malformed('8.3.1', ':path * is for OPTIONS', getWith({ ':path': '*' })),
  accepted('8.3.1', ':path * of OPTIONS', getWith({ ':method': 'OPTIONS', ':path': '*' }), { url: '*' }),
  malformed('8.3.1', ':method is a token', getWith({ ':method': 'GET /' })),
  malformed('8.3.1', ':method is not empty', getWith({ ':method': '' })),
  accepted('8.3.1', ':method may be any token', getWith({ ':method': 'constructor' }), { method: 'constructor' }),
  malformed('8.3.1', ':authority names no user', getWith({ ':authority': 'me@host' })),
  malformed('8.3.1', ':authority is a host and a port', getWith({ ':authority': 'host/api' })),
  accepted('8.3.1', ':authority is what Host is in HTTP/1.1', getWith({ ':authority': 'other:1' }), {
    headers: { host: 'other:1' },
  }),
  accepted('8.3.1', 'Host may stand for :authority', getWith({ ':authority': undefined }, ['host', 'h']), {
    headers: { host: 'h' },
  }),
  malformed('8.3.1', 'Host says what :authority says', get(['host', 'other'])),
  accepted('8.3.1', 'Host may repeat :authority', get(['host', 'HOST']), { headers: { host: 'host' } }),
  {
    section: '8.3.1',
    rule: 'a request of https says its host',
    leftOut: 'Go does not insist either, and there is one virtual host',
  },
  malformed('8.3.1', ':scheme is http or https', getWith({ ':scheme': 'ftp' })),
  { section: '8.4', rule: 'pushed requests are safe and have no body', leftOut: 'the server does not push' },
  accepted(
    '8.5',
    'CONNECT has an authority and neither scheme nor path',
    getWith({ ':method': 'CONNECT', ':scheme': undefined, ':path': undefined }),
    {
      method: 'CONNECT',
      url: 'host',
    },
  ),
  malformed('8.5', 'CONNECT has no :path', getWith({ ':method': 'CONNECT', ':scheme': undefined })),
  malformed('8.5', 'CONNECT has no :scheme', getWith({ ':method': 'CONNECT', ':path': undefined })),
  malformed('8.5', 'CONNECT has an authority', headers(7, block([[':method', 'CONNECT']]), Flag.END_STREAM)),
  {
    section: '8.6',
    rule: 'a connection is upgraded with 101',
    leftOut: 'not in HTTP/2; RFC 8441 (extended CONNECT) is not offered',
  },
  malformed(
    '8.6',
    'no :protocol, which was not offered',
    headers(7, block([...PSEUDO, [':protocol', 'websocket']]), Flag.END_STREAM),
  ),
  {
    section: '8.7',
    rule: 'requests that were not looked at are marked so that they can be repeated',
    elsewhere: 'src/http/http2/server-connection-exchanges.test.ts',
  },
  {
    section: '9.1',
    rule: 'a connection without a request may be ended, with a GOAWAY',
    elsewhere: 'src/http/http2/server-connection-end.test.ts',
  },
  {
    section: '9.1.1',
    rule: 'requests for another authority are answered 421',
    leftOut: 'the server answers for every name that its certificate has',
  },
  {
    section: '9.2',
    rule: 'TLS 1.2 or later, without renegotiation and the suites of appendix A',
    elsewhere: 'src/http/transport/tls.test.ts',
  },
  {
    section: '10.5.1',
    rule: 'headers beyond SETTINGS_MAX_HEADER_LIST_SIZE are answered 431',
    sent: [get(['a', 'x'.repeat(131_072)])],
    outcome: 'accepted',
    responses: ['7: 431', '7: "431 Request Header Fields Too Large".'],
  },
  {
    section: '10.5.1',
    rule: 'so are more than 2,000 fields',
    sent: [get(...Array.from({ length: 2_000 }, (): Fields[number] => ['a', '']))],
    outcome: 'accepted',
    responses: ['7: 431', '7: "431 Request Header Fields Too Large".'],
  },
  {
    section: '10.5.1',
    rule: 'trailers beyond it reset their request',
    sent: [trailers(['a', 'x'.repeat(131_072)])],
    outcome: 'stream ENHANCE_YOUR_CALM',
  },
  {
    section: '10.5',
    rule: 'requests that are given up are not without a limit',
    elsewhere: 'src/http/http2/server-connection-end.test.ts',
  },
  {
    section: '10.8',
    rule: 'padding hides the length of what is sent',
    leftOut: 'TLS 1.3 can; no server of Kubernetes does',
  },
  {
    section: '8.1',
    rule: 'DATA before HEADERS is of no stream',
    sent: [frame(FrameType.DATA, 0, 9, Buffer.from('x'))],
    outcome: 'connection PROTOCOL_ERROR',
  },
];
