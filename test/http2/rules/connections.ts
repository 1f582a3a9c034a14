import { Flag, frameHeader, FrameType, PREFACE, settingsFrame } from '../../../src/http2/frames';
import { data, frame, headers } from '../../../src/http2/wire.fixture';
import { block, get, HALF, more, onStream, PSEUDO, type Rule } from './rule';

/** RFC 9113, sections 3 to 5: the beginning of a connection, frames, and streams. */
export const connectionRules: readonly Rule[] = [
  {
    section: '3.4',
    rule: 'a connection begins with the preface',
    from: 'start',
    sent: [Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    outcome: 'connection PROTOCOL_ERROR',
  },
  {
    section: '3.4',
    rule: 'the preface is whole',
    from: 'start',
    sent: [PREFACE.subarray(0, 23), Buffer.from('x')],
    outcome: 'connection PROTOCOL_ERROR',
  },
  {
    section: '3.4',
    rule: 'SETTINGS follow the preface, and may be empty',
    from: 'start',
    sent: [PREFACE, settingsFrame([])],
    outcome: 'accepted',
    responses: ['settings', '0: window 983041', 'settings acknowledged'],
  },
  {
    section: '3.4',
    rule: 'nothing else follows the preface',
    from: 'start',
    sent: [PREFACE, frame(FrameType.PING, 0, 0, Buffer.alloc(8))],
    outcome: 'connection PROTOCOL_ERROR',
  },
  {
    section: '3.4',
    rule: 'a request follows the preface and SETTINGS without waiting for ours',
    from: 'start',
    sent: [PREFACE, settingsFrame([]), get()],
    outcome: 'accepted',
    requests: 1,
  },
  {
    section: '3.1',
    rule: 'HTTP/1.1 is upgraded to h2c',
    leftOut: 'RFC 9113 has dropped it; HTTP/2 is served over TLS only',
  },
  { section: '3.2', rule: 'h2 is chosen by ALPN', elsewhere: 'src/http/server-http2-connections.test.ts' },
  {
    section: '4.1',
    rule: 'frames of an unknown type are ignored',
    sent: [frame(0xfa, 0xff, 7, Buffer.from('nobody knows')), frame(0xfa, 0, 0), get()],
    outcome: 'accepted',
    requests: 1,
  },
  {
    section: '4.1',
    rule: 'flags that mean nothing on a frame are ignored',
    sent: [frame(FrameType.PING, 0xfe, 0, Buffer.from('12345678')), frame(FrameType.DATA, 0xf6, 5, Buffer.from('x'))],
    outcome: 'accepted',
    responses: ['pong 12345678'],
  },
  {
    section: '4.1',
    rule: 'the reserved bit of a stream number is ignored',
    sent: [reserved(get())],
    outcome: 'accepted',
    requests: 1,
  },
  {
    section: '4.2',
    rule: 'a frame is no larger than SETTINGS_MAX_FRAME_SIZE',
    sent: [frameHeader(262_145, FrameType.DATA, 0, 5)],
    outcome: 'connection FRAME_SIZE_ERROR',
  },
  {
    section: '4.2',
    rule: 'a frame may be as large as that',
    sent: [frame(0xfa, 0, 0, Buffer.alloc(262_144))],
    outcome: 'accepted',
  },
  {
    section: '4.3',
    rule: 'nothing stands between the frames of a header block',
    sent: [HALF, data(5, 'x')],
    outcome: 'connection PROTOCOL_ERROR',
  },
  {
    section: '4.3',
    rule: 'not even a frame of the connection',
    sent: [HALF, frame(FrameType.PING, 0, 0, Buffer.alloc(8))],
    outcome: 'connection PROTOCOL_ERROR',
  },
  {
    section: '4.3',
    rule: 'not even an unknown frame',
    sent: [HALF, frame(0xfa, 0, 0)],
    outcome: 'connection PROTOCOL_ERROR',
  },
  { section: '4.3', rule: 'not even a second request', sent: [HALF, get()], outcome: 'connection PROTOCOL_ERROR' },
  {
    section: '4.3',
    rule: 'a header block may be cut anywhere',
    sent: [
      frame(FrameType.HEADERS, Flag.END_STREAM, 7),
      ...[...get().subarray(9)].map((byte) => more(7, Buffer.from([byte]))).slice(0, 14),
      more(7, get().subarray(9 + 14), Flag.END_HEADERS),
    ],
    outcome: 'accepted',
    requests: 1,
    request: { method: 'GET', url: '/', headers: { host: 'host' } },
  },
  {
    section: '5.1',
    rule: 'idle: no DATA',
    sent: [data(7, 'x')],
    outcome: 'connection PROTOCOL_ERROR',
  },
  {
    section: '5.1',
    rule: 'idle: PRIORITY is allowed',
    sent: [frame(FrameType.PRIORITY, 0, 7, Buffer.alloc(5)), get()],
    outcome: 'accepted',
    requests: 1,
  },
  {
    section: '5.1',
    rule: 'half-closed by the client: no DATA',
    sent: [data(3, 'x')],
    outcome: 'connection STREAM_CLOSED',
  },
  {
    section: '5.1',
    rule: 'half-closed by the client: no HEADERS',
    sent: [onStream(get(), 3)],
    outcome: 'connection STREAM_CLOSED',
  },
  {
    section: '5.1',
    rule: 'half-closed by the client: WINDOW_UPDATE, PRIORITY and RST_STREAM are allowed',
    sent: [
      frame(FrameType.WINDOW_UPDATE, 0, 3, Buffer.from([0, 0, 0, 1])),
      frame(FrameType.PRIORITY, 0, 3, Buffer.alloc(5)),
      frame(FrameType.RST_STREAM, 0, 3, Buffer.from([0, 0, 0, 8])),
    ],
    outcome: 'accepted',
  },
  { section: '5.1', rule: 'closed: no DATA', sent: [data(1, 'x')], outcome: 'connection STREAM_CLOSED' },
  { section: '5.1', rule: 'closed: no HEADERS', sent: [onStream(get(), 1)], outcome: 'connection STREAM_CLOSED' },
  {
    section: '5.1',
    rule: 'closed: WINDOW_UPDATE, PRIORITY and RST_STREAM may have been under way',
    sent: [
      frame(FrameType.WINDOW_UPDATE, 0, 1, Buffer.from([0, 0, 0, 1])),
      frame(FrameType.PRIORITY, 0, 1, Buffer.alloc(5)),
      frame(FrameType.RST_STREAM, 0, 1, Buffer.from([0, 0, 0, 8])),
    ],
    outcome: 'accepted',
  },
  {
    section: '5.1',
    rule: 'closed by a reset of ours: what was under way is ignored, and read for the header table',
    sent: [
      headers(7, block([...PSEUDO, ['connection', 'close']])),
      data(7, 'under way'),
      frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 7, Buffer.from([0x40, 1, 0x61, 1, 0x62])),
      frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 9, Buffer.from([0x82, 0x84, 0x87, 0xbe])),
    ],
    outcome: 'stream PROTOCOL_ERROR',
    requests: 1,
    request: { headers: { a: 'b' } },
  },
  {
    section: '5.1.1',
    rule: 'a client opens streams with odd numbers',
    sent: [onStream(get(), 8)],
    outcome: 'connection PROTOCOL_ERROR',
  },
  {
    section: '5.1.1',
    rule: 'the numbers of streams rise',
    sent: [onStream(get(), 11), get()],
    outcome: 'connection STREAM_CLOSED',
    requests: 1,
  },
  {
    section: '5.1.1',
    rule: 'a client may leave numbers out',
    sent: [onStream(get(), 2 ** 31 - 1)],
    outcome: 'accepted',
    requests: 1,
  },
  {
    section: '5.1.2',
    rule: 'more streams than SETTINGS_MAX_CONCURRENT_STREAMS are refused so that they can be repeated',
    sent: Array.from({ length: 9 }, (_, index) => onStream(get(), 7 + 2 * index)),
    outcome: 'stream REFUSED_STREAM',
    requests: 8,
  },
  {
    section: '5.2.1',
    rule: 'a body is no larger than the window of its stream',
    sent: [frame(FrameType.DATA, 0, 5, Buffer.alloc(262_144)), data(5, 'x')],
    outcome: 'connection FLOW_CONTROL_ERROR',
  },
  {
    section: '5.2.1',
    rule: 'what the server sends fits the windows',
    elsewhere: 'src/http/http2/server-connection-windows.test.ts',
  },
  { section: '5.3', rule: 'priorities order the answers', leftOut: 'RFC 9113 deprecates them; no Go client sends any' },
  {
    section: '5.4.1',
    rule: 'after the GOAWAY of an error nothing is looked at',
    sent: [data(0, 'x'), get()],
    outcome: 'connection PROTOCOL_ERROR',
  },
  {
    section: '5.4.2',
    rule: 'RST_STREAM is not answered with RST_STREAM',
    sent: [frame(FrameType.RST_STREAM, 0, 3, Buffer.from([0, 0, 0, 8]))],
    outcome: 'accepted',
    responses: [],
  },
  { section: '5.5', rule: 'unknown settings and frames extend the protocol', elsewhere: 'test/http2/rules/frames.ts' },
];

function reserved(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  changed[5]! |= 0x80;
  return changed;
}
