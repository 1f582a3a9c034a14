import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import {
  Flag,
  frameHeader,
  FrameType,
  PING,
  resetFrame,
  Setting,
  settingsFrame,
  windowUpdateFrame,
} from '../../../http2/frames';
import { ErrorCode, Http2Error } from '../../../http2/http2-error';
import { Http2Connection } from './connection';
import { connect, greeted, OK, request, type TestStream } from './connection.fixture';
import { data, frame, goAway, headers, Wire } from '../../../http2/wire.fixture';

describe('an HTTP/2 connection', () => {
  describe('that ends', () => {
    it('tells what may have been seen from what has not', async () => {
      const { connection, wire, told } = await greeted([[Setting.MAX_CONCURRENT_STREAMS, 2]]);
      const sent = request(connection, 'a');
      await wire.frames();
      const [written, waiting] = [request(connection, 'b'), request(connection, 'c')];
      connection.destroy(new Error('it broke'));
      expect([sent, written, waiting].map(({ events }) => events)).toEqual([
        ['failed: it broke'],
        ['unsent: it broke'],
        ['unsent: it broke'],
      ]);
      expect(told.closed?.message).toBe('it broke');
      expect([...connection.streams()]).toEqual([]);
    });

    it('fails its streams when the server closes its side', async () => {
      const { connection, wire } = await greeted();
      const stream = request(connection, 'a');
      await wire.frames();
      wire.push(null);
      await turn();
      expect(stream.events).toEqual(['failed: the server closed the connection']);
      expect(wire.destroyed).toBe(true);
    });

    it('was never seen by a server before it was started', async () => {
      const wire = new Wire();
      const connection = new Http2Connection<TestStream>(wire, {
        streamWindowBytes: 1_000,
        connectionWindowBytes: 100_000,
        onGoAway: () => undefined,
        onClose: () => undefined,
      });
      const stream = request(connection, 'a');
      await turn();
      wire.destroy(new Error('nobody listens'));
      await turn();
      expect(stream.events).toEqual(['unsent: nobody listens']);
      expect(wire.writes).toBe(0);
    });

    it('lets streams finish after a GOAWAY, except those that the server has not seen', async () => {
      const { connection, wire, told } = await greeted([[Setting.MAX_CONCURRENT_STREAMS, 2]]);
      const [seen, unseen, waiting] = [request(connection, 'a'), request(connection, 'b'), request(connection, 'c')];
      await wire.send(goAway(2 ** 31 - 1, ErrorCode.NO_ERROR));
      expect(told.goneAway).toBe(1);
      expect(waiting.events).toEqual(['unsent: the server said goodbye (NO_ERROR bye)']);
      expect(unseen.events).toEqual([]);
      await wire.send(goAway(1, ErrorCode.NO_ERROR));
      expect(unseen.events).toEqual(['unsent: the server said goodbye (NO_ERROR bye)']);
      expect(told.goneAway).toBe(1);
      expect(told.closed).toBeUndefined();
      await wire.send(headers(1, OK), data(1, 'answer', Flag.END_STREAM));
      expect(seen.events).toEqual([':status=200', 'end answer']);
      expect(told.closed?.message).toBe('the server said goodbye (NO_ERROR bye)');
      expect(wire.destroyed).toBe(true);
    });

    it('ends at once after a GOAWAY when it is idle', async () => {
      const { wire, told } = await greeted();
      await wire.send(goAway(0, ErrorCode.ENHANCE_YOUR_CALM));
      expect(told.goneAway).toBe(1);
      expect(told.closed?.message).toBe('the server said goodbye (ENHANCE_YOUR_CALM bye)');
    });

    it('takes no streams beyond the last number, and ends with those it has', async () => {
      const { connection, wire, told } = await greeted([], { firstStreamId: 2 ** 31 - 1 });
      const stream = request(connection, 'a');
      expect(told.goneAway).toBe(1);
      await wire.send(headers(2 ** 31 - 1, OK, Flag.END_STREAM));
      expect(stream.events).toEqual([':status=200', 'end ']);
      expect(told.closed?.message).toBe('the stream numbers are used up');
    });

    it.each([
      ['unsent', ErrorCode.REFUSED_STREAM, 'unsent: the server reset the stream (REFUSED_STREAM)'],
      ['failed', ErrorCode.INTERNAL_ERROR, 'failed: the server reset the stream (INTERNAL_ERROR)'],
      ['failed', 0x1234, 'failed: the server reset the stream (error 4660)'],
    ])('calls one stream %s that is reset with %d, and goes on', async (_, code, event) => {
      const { connection, wire, told } = await greeted();
      const stream = request(connection, 'a');
      await wire.send(resetFrame(1, code));
      expect(stream.events).toEqual([event]);
      expect(told.closed).toBeUndefined();
    });
  });

  describe('whose server breaks the protocol', () => {
    it.each<[string, Buffer, string]>([
      [
        'a frame that is too large',
        frameHeader(16_385, FrameType.DATA, 0, 1),
        'a frame of 16385 bytes (FRAME_SIZE_ERROR)',
      ],
      [
        'DATA for a stream that nobody opened',
        data(3, 'x'),
        'a frame for stream 3, which nobody opened (PROTOCOL_ERROR)',
      ],
      ['HEADERS for a stream of its own', headers(2, OK), 'stream 2, which nobody opened (PROTOCOL_ERROR)'],
      ['DATA for the connection', data(0, 'x'), 'stream 0, which nobody opened (PROTOCOL_ERROR)'],
      ['padding beyond the frame', frame(FrameType.DATA, Flag.PADDED, 1, Buffer.from([9, 1])), 'PROTOCOL_ERROR'],
      ['another frame within headers', Buffer.concat([frame(FrameType.HEADERS, 0, 1, OK), PING]), 'PROTOCOL_ERROR'],
      [
        'another stream within headers',
        Buffer.concat([frame(FrameType.HEADERS, 0, 1, OK), frame(FrameType.CONTINUATION, Flag.END_HEADERS, 3, OK)]),
        'PROTOCOL_ERROR',
      ],
      ['a CONTINUATION of nothing', frame(FrameType.CONTINUATION, Flag.END_HEADERS, 1, OK), 'PROTOCOL_ERROR'],
      [
        'headers without end',
        Buffer.concat([
          frame(FrameType.HEADERS, 0, 1, OK),
          ...Array.from({ length: 5 }, () => frame(FrameType.CONTINUATION, 0, 1, Buffer.alloc(16_000))),
        ]),
        'a header block is too large (ENHANCE_YOUR_CALM)',
      ],
      ['a reference to the dynamic table', headers(1, Buffer.from([0xbe])), 'COMPRESSION_ERROR'],
      [
        'half a RST_STREAM',
        frame(FrameType.RST_STREAM, 0, 1, Buffer.alloc(3)),
        'a RST_STREAM of 3 bytes (FRAME_SIZE_ERROR)',
      ],
      ['a short WINDOW_UPDATE', frame(FrameType.WINDOW_UPDATE, 0, 0, Buffer.alloc(3)), 'FRAME_SIZE_ERROR'],
      ['a WINDOW_UPDATE of nothing', windowUpdateFrame(0, 0), 'PROTOCOL_ERROR'],
      ["a stream's window that is too large", windowUpdateFrame(1, 2 ** 31 - 1), 'FLOW_CONTROL_ERROR'],
      ["the connection's window that is too large", windowUpdateFrame(0, 2 ** 31 - 1), 'FLOW_CONTROL_ERROR'],
      ['windows that are too large', settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 2 ** 31]]), 'FLOW_CONTROL_ERROR'],
      ['frames that are too small', settingsFrame([[Setting.MAX_FRAME_SIZE, 16_383]]), 'PROTOCOL_ERROR'],
      ['pushing', settingsFrame([[Setting.ENABLE_PUSH, 1]]), 'PROTOCOL_ERROR'],
      ['half a setting', frame(FrameType.SETTINGS, 0, 0, Buffer.alloc(5)), 'FRAME_SIZE_ERROR'],
      ['an acknowledgement with settings', frame(FrameType.SETTINGS, Flag.ACK, 0, Buffer.alloc(6)), 'FRAME_SIZE_ERROR'],
      ['SETTINGS of a stream', frame(FrameType.SETTINGS, 0, 1), 'PROTOCOL_ERROR'],
      ['a short PING', frame(FrameType.PING, 0, 0, Buffer.alloc(7)), 'FRAME_SIZE_ERROR'],
      ['a PING of a stream', frame(FrameType.PING, 0, 1, Buffer.alloc(8)), 'PROTOCOL_ERROR'],
      ['a short GOAWAY', frame(FrameType.GOAWAY, 0, 0, Buffer.alloc(7)), 'FRAME_SIZE_ERROR'],
      ['a GOAWAY of a stream', frame(FrameType.GOAWAY, 0, 1, Buffer.alloc(8)), 'PROTOCOL_ERROR'],
      [
        'a promise',
        frame(FrameType.PUSH_PROMISE, Flag.END_HEADERS, 1, Buffer.alloc(4)),
        'the server pushes (PROTOCOL_ERROR)',
      ],
    ])('with %s ends with an error', async (_, bytes, message) => {
      const { connection, wire, told } = await greeted();
      const stream = request(connection, 'a');
      await wire.frames();
      await wire.send(bytes);
      expect(told.closed).toBeInstanceOf(Http2Error);
      expect(told.closed!.message).toContain(message);
      expect(stream.events).toEqual([`failed: ${told.closed!.message}`]);
      const last = (await wire.frames()).at(-1)!;
      expect(last.type).toBe(FrameType.GOAWAY);
      expect(last.payload.readUInt32BE(4)).toBe((told.closed as Http2Error).code);
    });

    it.each([
      ['speaks HTTP/1.1', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
      ['begins without SETTINGS', PING],
    ])('in that it %s is none of HTTP/2', async (_, bytes) => {
      const { wire, told } = connect();
      await wire.send(bytes);
      expect(told.closed?.message).toBe('the server does not speak HTTP/2 (PROTOCOL_ERROR)');
    });

    it('with random frames ends with an error, if with anything', async () => {
      const junk = fc.oneof(
        fc.uint8Array({ maxLength: 60 }),
        fc
          .record({
            type: fc.integer({ min: 0, max: 10 }),
            flags: fc.integer({ min: 0, max: 255 }),
            streamId: fc.integer({ min: 0, max: 4 }),
            payload: fc.uint8Array({ maxLength: 30 }),
          })
          .map(({ type, flags, streamId, payload }) => frame(type, flags, streamId, payload)),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(junk, { minLength: 1, maxLength: 12 }), async (parts) => {
          const { connection, wire, told } = await greeted();
          const stream = request(connection, 'a');
          for (const part of parts) wire.push(Buffer.from(part));
          await turn();
          const isGone = told.goneAway > 0 || told.closed === undefined;
          expect(isGone || told.closed instanceof Http2Error).toBe(true);
          expect(stream.isClosed || told.closed === undefined).toBe(true);
        }),
        { numRuns: 500 },
      );
    });
  });
});
