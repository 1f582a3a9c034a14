import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import {
  Flag,
  frameHeader,
  FrameType,
  goAwayFrame,
  PREFACE,
  resetFrame,
  Setting,
  settingsFrame,
  windowUpdateFrame,
} from '../../http2/frames';
import { encodeHeaders } from '../../http2/hpack';
import { data, frame, headers } from '../../http2/wire.fixture';
import { ask, asked, greeted, post, PSEUDO, said, serve } from './server-connection.fixture';

const BLOCK = encodeHeaders(PSEUDO);
const half = (streamId: number): Buffer => frame(FrameType.HEADERS, Flag.END_STREAM, streamId, BLOCK);
const more = (streamId: number, payload = Buffer.alloc(0)): Buffer =>
  frame(FrameType.CONTINUATION, 0, streamId, payload);
const times = (count: number, bytes: Buffer): Buffer[] => Array.from({ length: count }, () => bytes);

/** Stream 1 has ended, stream 3 waits for an answer, stream 5 for a body, and no other one was opened. */
async function inTheMiddle() {
  const served = await greeted();
  (await asked(served, ask(1))).response.end();
  await asked(served, ask(3), post(5));
  return served;
}

describe('a client that breaks a rule of HTTP/2 is told which kind', () => {
  it.each<[string, string, readonly Buffer[]]>([
    ['data of no stream', 'PROTOCOL_ERROR', [data(0, 'x')]],
    ['data of a stream that nobody opened', 'PROTOCOL_ERROR', [data(7, 'x')]],
    ['data of a stream that only a server opens', 'PROTOCOL_ERROR', [data(2, 'x')]],
    ['data after the end of a request', 'STREAM_CLOSED', [data(3, 'x')]],
    [
      'padding that is longer than its frame',
      'PROTOCOL_ERROR',
      [frame(FrameType.DATA, Flag.PADDED, 5, Buffer.from([9]))],
    ],
    ['padding of nothing', 'PROTOCOL_ERROR', [frame(FrameType.DATA, Flag.PADDED, 5)]],
    ['headers of no stream', 'PROTOCOL_ERROR', [ask(0)]],
    ['headers of a stream that only a server opens', 'PROTOCOL_ERROR', [ask(8)]],
    ['headers after the end of a request', 'STREAM_CLOSED', [ask(3)]],
    ['half a priority', 'PROTOCOL_ERROR', [headers(7, Buffer.alloc(3), Flag.PRIORITY)]],
    ['a block that cannot be read', 'COMPRESSION_ERROR', [headers(7, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]))]],
    ['a field that the table has not', 'COMPRESSION_ERROR', [headers(7, Buffer.from([0xbe]))]],
    ['a table that is larger than agreed', 'COMPRESSION_ERROR', [headers(7, Buffer.from([0x3f, 0xe2, 0x1f]))]],
    ['trailers that cannot be read', 'COMPRESSION_ERROR', [headers(5, Buffer.from([0xbe]), Flag.END_STREAM)]],
    ['data within a block', 'PROTOCOL_ERROR', [half(7), data(5, 'x')]],
    ['a ping within a block', 'PROTOCOL_ERROR', [half(7), frame(FrameType.PING, 0, 0, Buffer.alloc(8))]],
    ['an unknown frame within a block', 'PROTOCOL_ERROR', [half(7), frame(0xfa, 0, 0)]],
    ['a request within a block', 'PROTOCOL_ERROR', [half(7), ask(9)]],
    ['a block that another stream goes on with', 'PROTOCOL_ERROR', [half(7), more(9)]],
    ['a block that goes on and has not begun', 'PROTOCOL_ERROR', [more(7)]],
    ['a block that goes on after its end', 'PROTOCOL_ERROR', [ask(7), more(7)]],
    ['a block of no stream that goes on', 'PROTOCOL_ERROR', [more(0)]],
    ['a block that goes on for ever', 'ENHANCE_YOUR_CALM', [half(7), ...times(70, more(7, Buffer.alloc(16_384)))]],
    [
      'a block that goes on for ever in large frames',
      'ENHANCE_YOUR_CALM',
      [half(7), ...times(5, more(7, Buffer.alloc(262_144)))],
    ],
    ['a block that goes on with nothing for ever', 'ENHANCE_YOUR_CALM', [half(7), ...times(100, more(7))]],
    ['a priority of no stream', 'PROTOCOL_ERROR', [frame(FrameType.PRIORITY, 0, 0, Buffer.alloc(5))]],
    ['a priority of another length', 'FRAME_SIZE_ERROR', [frame(FrameType.PRIORITY, 0, 7, Buffer.alloc(4))]],
    ['the reset of no stream', 'PROTOCOL_ERROR', [resetFrame(0, 8)]],
    ['the reset of a stream that nobody opened', 'PROTOCOL_ERROR', [resetFrame(7, 8)]],
    ['a reset of another length', 'FRAME_SIZE_ERROR', [frame(FrameType.RST_STREAM, 0, 3, Buffer.alloc(5))]],
    ['settings of a stream', 'PROTOCOL_ERROR', [frame(FrameType.SETTINGS, 0, 3)]],
    ['half a setting', 'FRAME_SIZE_ERROR', [frame(FrameType.SETTINGS, 0, 0, Buffer.alloc(7))]],
    ['an acknowledgement with settings', 'FRAME_SIZE_ERROR', [frame(FrameType.SETTINGS, Flag.ACK, 0, Buffer.alloc(6))]],
    ['frames of less than everyone takes', 'PROTOCOL_ERROR', [settingsFrame([[Setting.MAX_FRAME_SIZE, 16_383]])]],
    ['frames of more than there may be', 'PROTOCOL_ERROR', [settingsFrame([[Setting.MAX_FRAME_SIZE, 2 ** 24]])]],
    ['pushes that are neither allowed nor not', 'PROTOCOL_ERROR', [settingsFrame([[Setting.ENABLE_PUSH, 2]])]],
    ['a window that is too large', 'FLOW_CONTROL_ERROR', [settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 2 ** 31]])]],
    ['a push', 'PROTOCOL_ERROR', [frame(FrameType.PUSH_PROMISE, Flag.END_HEADERS, 3, Buffer.alloc(4))]],
    ['a ping of a stream', 'PROTOCOL_ERROR', [frame(FrameType.PING, 0, 3, Buffer.alloc(8))]],
    ['a ping of another length', 'FRAME_SIZE_ERROR', [frame(FrameType.PING, 0, 0, Buffer.alloc(9))]],
    ['a GOAWAY of a stream', 'PROTOCOL_ERROR', [frame(FrameType.GOAWAY, 0, 3, Buffer.alloc(8))]],
    ['a GOAWAY that is too short', 'FRAME_SIZE_ERROR', [frame(FrameType.GOAWAY, 0, 0, Buffer.alloc(7))]],
    ['a window that grows by nothing', 'PROTOCOL_ERROR', [windowUpdateFrame(3, 0)]],
    ['the window of a stream that nobody opened', 'PROTOCOL_ERROR', [windowUpdateFrame(7, 1)]],
    ['the window of a stream that only a server opens', 'PROTOCOL_ERROR', [windowUpdateFrame(4, 1)]],
    ['a window of another length', 'FRAME_SIZE_ERROR', [frame(FrameType.WINDOW_UPDATE, 0, 0, Buffer.alloc(5))]],
    ['a frame that is larger than agreed', 'FRAME_SIZE_ERROR', [frameHeader(262_145, FrameType.DATA, 0, 5)]],
  ])('by %s: %s', async (_, code, frames) => {
    const served = await inTheMiddle();
    await said(served);
    await served.wire.send(...frames);
    const last = frames.length > 1 && frames[0] !== undefined && frames[0].equals(ask(7)) ? 7 : 5;
    expect(await said(served)).toEqual([`go away after ${last} ${code}`]);
    expect(served.wire.writableEnded).toBe(true);
    expect(served.told.faults).toEqual([]);
    expect(served.streams.map(({ response }) => response.destroyed)).toEqual(served.streams.map(() => true));
  });

  it('once, and nothing that it still sends is looked at', async () => {
    const served = await greeted();
    served.wire.hold();
    await served.wire.send(data(0, 'x'), ask(1));
    for (let sent = 0; sent < 5; sent++) await served.wire.send(frameHeader(300_000, 0, 0, 0), ask(3));
    expect(served.streams).toEqual([]);
    served.connection.destroy();
    expect(served.told.closed).toBe(1);
  });
});

describe('whatever frames come', () => {
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(
      BLOCK,
      encodeHeaders({ ...PSEUDO, 'content-length': '3' }),
      encodeHeaders({ a: 'b' }),
      Buffer.from('abc'),
    ),
    fc.constantFrom(4, 5, 6, 8).map((length) => Buffer.alloc(length, 1)),
  );
  const anyFrame = fc
    .tuple(
      fc.oneof(fc.constantFrom(FrameType.HEADERS, FrameType.DATA, FrameType.HEADERS), fc.integer({ min: 0, max: 10 })),
      fc.oneof(fc.constantFrom(0, 1, 4, 5), fc.integer({ min: 0, max: 255 })),
      fc.integer({ min: 0, max: 9 }),
      payload,
    )
    .map(([type, flags, streamId, bytes]) => frame(type, flags, streamId, bytes));
  const goodFrame = fc.oneof(
    fc
      .constantFrom(1, 3, 5, 7)
      .chain((id) =>
        fc.constantFrom(
          ask(id),
          post(id),
          post(id, { 'content-length': '3' }),
          data(id, 'abc', Flag.END_STREAM),
          data(id, 'abc'),
          resetFrame(id, 8),
          windowUpdateFrame(id, 7),
        ),
      ),
    fc.constantFrom(
      settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 3]]),
      settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 100_000]]),
      windowUpdateFrame(0, 9),
      goAwayFrame(0, 0),
    ),
  );
  const frames = fc.array(fc.oneof({ weight: 4, arbitrary: goodFrame }, { weight: 1, arbitrary: anyFrame }), {
    maxLength: 20,
  });

  it('the connection goes on or says why not, throws nothing, and ends each request once', async () => {
    const outcomes = { alive: 0, ended: 0 };
    await fc.assert(
      fc.asyncProperty(frames, fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), async (sent, cuts) => {
        const closes: number[] = [];
        const served = serve({
          maxStreams: 3,
          onRequest: ({ id, request, response }) => {
            const index = closes.push(0) - 1;
            response.on('close', () => closes[index]!++);
            if (id % 4 === 1) response.write('hello');
            request.on('data', (chunk) => response.write(chunk)).on('end', () => response.end());
            if (request.readableEnded) setImmediate(() => response.end('done'));
          },
        });
        await served.wire.send(PREFACE, settingsFrame([]));
        const bytes = Buffer.concat(sent);
        for (let from = 0, cut = 0; from < bytes.length; cut++) {
          const to = from + cuts[cut % cuts.length]!;
          await served.wire.send(bytes.subarray(from, to));
          from = to;
        }
        await turn();
        const goneAway = (await said(served)).filter((line) => line.startsWith('go away'));
        expect(served.told.faults).toEqual([]);
        expect(goneAway).toHaveLength(served.wire.writableEnded ? 1 : 0);
        outcomes[served.wire.writableEnded ? 'ended' : 'alive']++;
        served.connection.destroy();
        await turn();
        expect(served.told.closed).toBe(1);
        expect(closes).toEqual(closes.map(() => 1));
      }),
      { numRuns: 1_000 },
    );
    expect(Math.min(outcomes.alive, outcomes.ended)).toBeGreaterThan(50);
  });
});
