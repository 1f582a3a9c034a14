import fc from 'fast-check';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { Http2Connection, type ConnectionOptions } from './connection';
import {
  Flag,
  frameHeader,
  FrameReader,
  FrameType,
  PING,
  resetFrame,
  Setting,
  SETTINGS_ACK,
  settingsFrame,
  windowUpdateFrame,
} from '../../../http2/frames';
import { encodeHeaders } from '../../../http2/hpack';
import { ErrorCode, Http2Error } from '../../../http2/http2-error';
import type { Headers } from './known-headers';
import { Http2Stream } from './stream';

const PREFACE_BYTES = 24;
const REQUEST = encodeHeaders({ ':method': 'POST', ':path': '/' });
const OK = encodeHeaders({ ':status': '200' });
const TRAILERS = encodeHeaders({ 'grpc-status': '0' });

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** The server's end, played by hand. */
class Wire extends Duplex {
  writes = 0;
  #written = Buffer.alloc(0);
  #held: (() => void)[] | undefined;

  override _read(): void {
    // Tests push.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const write = (): void => {
      this.writes++;
      this.#written = Buffer.concat([this.#written, chunk]);
      done();
    };
    if (this.#held === undefined) write();
    else this.#held.push(write);
  }

  /** Keeps what is written to itself until the result is called. */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      this.#held = undefined;
      for (const write of held) write();
    };
  }

  /** What the client has sent since the last question. */
  async frames(): Promise<Frame[]> {
    await turn();
    const frames: Frame[] = [];
    const bytes = this.#written.subarray(this.#written.subarray(0, 3).toString() === 'PRI' ? PREFACE_BYTES : 0);
    new FrameReader().push(bytes, (type, flags, streamId, payload) => frames.push({ type, flags, streamId, payload }));
    this.#written = Buffer.alloc(0);
    return frames;
  }

  /** What comes is only there during the call. */
  giveTo(connection: Http2Connection<TestStream>): void {
    this.on('data', (chunk: Buffer) => {
      const memory = Buffer.from(chunk);
      connection.receive(memory);
      memory.fill(0xaa);
    });
  }

  async send(...parts: readonly Uint8Array[]): Promise<void> {
    this.push(Buffer.concat(parts));
    await turn();
  }
}

class TestStream extends Http2Stream {
  readonly events: string[] = [];
  data = '';

  override onHeaders(headers: Headers): void {
    this.events.push([...headers].map(([name, value]) => `${name}=${value}`).join(' '));
  }

  override onData(bytes: Buffer): void {
    if (bytes.toString() === 'nonsense') throw new Error('that is nonsense');
    this.data += bytes.toString();
  }

  override onEnd(): void {
    this.events.push(`end ${this.data}`);
  }

  override onFailure(error: Error, isUnsent: boolean): void {
    this.events.push(`${isUnsent ? 'unsent' : 'failed'}: ${error.message}`);
  }
}

function frame(type: number, flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  return Buffer.concat([frameHeader(payload.length, type, flags, streamId), payload]);
}

function data(streamId: number, text: string, flags = 0): Buffer {
  return frame(FrameType.DATA, flags, streamId, Buffer.from(text));
}

function headers(streamId: number, block: Buffer, flags = 0): Buffer {
  return frame(FrameType.HEADERS, flags | Flag.END_HEADERS, streamId, block);
}

function goAway(lastId: number, code: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(lastId, 0);
  payload.writeUInt32BE(code, 4);
  return frame(FrameType.GOAWAY, 0, 0, Buffer.concat([payload, Buffer.from('bye')]));
}

/** What DATA frames carried, with a full stop where they end the stream. */
function sentData(frames: readonly Frame[]): string[] {
  return frames
    .filter(({ type }) => type === FrameType.DATA)
    .map(({ streamId, payload, flags }) => `${streamId}: ${payload.toString()}${flags & Flag.END_STREAM ? '.' : ''}`);
}

describe('an HTTP/2 connection', () => {
  let wire: Wire;
  let goneAway: number;
  let closed: Error | undefined;

  const connect = (options: Partial<ConnectionOptions> = {}): Http2Connection<TestStream> => {
    wire = new Wire();
    goneAway = 0;
    closed = undefined;
    const connection = new Http2Connection<TestStream>(wire, {
      streamWindowBytes: 1_000,
      connectionWindowBytes: 100_000,
      onGoAway: () => goneAway++,
      onClose: (error) => (closed = error),
      ...options,
    });
    wire.giveTo(connection);
    connection.start();
    return connection;
  };

  /** A connection whose server has said hello with these settings. */
  const greeted = async (
    settings: readonly (readonly [number, number])[] = [],
    options: Partial<ConnectionOptions> = {},
  ): Promise<Http2Connection<TestStream>> => {
    const connection = connect(options);
    await wire.send(settingsFrame(settings), SETTINGS_ACK);
    await wire.frames();
    return connection;
  };

  const request = (connection: Http2Connection<TestStream>, body: string, isLast = true): TestStream => {
    const stream = new TestStream();
    connection.open(stream, REQUEST);
    connection.send(stream, [Buffer.from(body)], isLast);
    return stream;
  };

  it('begins with its settings, and acknowledges those of the server', async () => {
    connect();
    const [settings, window] = await wire.frames();
    const expected: [number, number][] = [
      [Setting.HEADER_TABLE_SIZE, 0],
      [Setting.ENABLE_PUSH, 0],
      [Setting.INITIAL_WINDOW_SIZE, 1_000],
    ];
    expect(settings!.payload).toEqual(settingsFrame(expected).subarray(9));
    expect(window).toMatchObject({ type: FrameType.WINDOW_UPDATE, streamId: 0 });
    expect(window!.payload.readUInt32BE()).toBe(100_000 - 65_535);
    await wire.send(settingsFrame([]));
    expect(await wire.frames()).toMatchObject([{ type: FrameType.SETTINGS, flags: Flag.ACK }]);
  });

  it('sends what several streams say in one turn in one piece', async () => {
    const connection = await greeted();
    const before = wire.writes;
    request(connection, 'one');
    request(connection, 'two');
    expect(sentData(await wire.frames())).toEqual(['1: one.', '3: two.']);
    expect(wire.writes).toBe(before + 1);
  });

  it('makes a copy of what it sends, whether that leaves at once or has to wait', async () => {
    const connection = await greeted([
      [Setting.INITIAL_WINDOW_SIZE, 5],
      [Setting.MAX_CONCURRENT_STREAMS, 2],
    ]);
    const parts = [Buffer.alloc(3), Buffer.alloc(2)];
    for (const letter of ['a', 'b', 'c']) {
      for (const part of parts) part.fill(letter);
      const stream = new TestStream();
      connection.open(stream, REQUEST);
      connection.send(stream, parts, false);
      connection.send(stream, parts.slice(1), true);
    }
    for (const part of parts) part.fill('x');
    expect(sentData(await wire.frames())).toEqual(['1: aaaaa', '3: bbbbb']);
    await wire.send(windowUpdateFrame(1, 2), windowUpdateFrame(3, 2), headers(1, OK, Flag.END_STREAM));
    expect(sentData(await wire.frames())).toEqual(['1: aa.', '3: bb.', '5: ccccc']);
    await wire.send(windowUpdateFrame(5, 2));
    expect(sentData(await wire.frames())).toEqual(['5: cc.']);
  });

  it('leaves alone what the socket has not sent yet', async () => {
    const connection = await greeted();
    const release = wire.hold();
    for (const letter of 'abcdefgh') {
      request(connection, letter.repeat(7_000));
      await turn();
    }
    release();
    const bodies = sentData(await wire.frames()).map((text) => text.slice(text.indexOf(' ') + 1));
    expect(bodies).toEqual([...'abcdefgh'].map((letter) => `${letter.repeat(7_000)}.`));
  });

  it('answers pings after a while, each of them', async () => {
    await greeted();
    await wire.send(frame(FrameType.PING, 0, 0, Buffer.from('12345678')));
    await wire.send(frame(FrameType.PING, 0, 0, Buffer.from('abcdefgh')));
    expect(await wire.frames()).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 110));
    expect(await wire.frames()).toMatchObject([
      { type: FrameType.PING, flags: Flag.ACK, payload: Buffer.from('12345678') },
      { type: FrameType.PING, flags: Flag.ACK, payload: Buffer.from('abcdefgh') },
    ]);
  });

  it('ends when its pings are not answered', async () => {
    const connection = await greeted();
    connection.ping(20);
    await wire.send(frame(FrameType.PING, Flag.ACK, 0, PING.subarray(9)));
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(closed).toBeUndefined();
    connection.ping(20);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(closed?.message).toBe('the server does not answer pings');
  });

  describe('that is given an answer', () => {
    const split = Buffer.concat([
      settingsFrame([[Setting.MAX_CONCURRENT_STREAMS, 10]]),
      frame(0xfa, 0xff, 77, Buffer.from('nobody knows this frame')),
      frame(FrameType.PRIORITY, 0, 1, Buffer.alloc(5)),
      // Priority and padding, and the block in three parts, one of them empty.
      frame(
        FrameType.HEADERS,
        Flag.PADDED | Flag.PRIORITY,
        1,
        Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 16]), OK, Buffer.alloc(3)]),
      ),
      frame(FrameType.CONTINUATION, 0, 1),
      frame(FrameType.CONTINUATION, Flag.END_HEADERS, 1, encodeHeaders({ a: 'b' })),
      frame(FrameType.DATA, Flag.PADDED, 1, Buffer.from('\u0002hello\0\0')),
      data(1, ' world'),
      frame(FrameType.DATA, 0, 1),
      headers(1, TRAILERS, Flag.END_STREAM),
    ]);
    const events = [':status=200 a=b', 'grpc-status=0', 'end hello world'];

    it('reads it with padding, priority, continuations and frames that it does not know', async () => {
      const stream = request(connect(), 'question');
      await wire.send(split);
      expect(stream.events).toEqual(events);
    });

    it('reads it byte by byte', async () => {
      const stream = request(connect(), 'question');
      for (const byte of split) wire.push(Buffer.from([byte]));
      await turn();
      expect(stream.events).toEqual(events);
    });

    it('reads it cut in two anywhere', async () => {
      for (let cut = 1; cut < split.length; cut++) {
        const stream = request(connect(), 'question');
        wire.push(split.subarray(0, cut));
        wire.push(split.subarray(cut));
        await turn();
        expect(stream.events).toEqual(events);
      }
    });

    it('ends the stream with the data, where nothing follows', async () => {
      const stream = request(await greeted(), 'question');
      await wire.send(headers(1, OK), data(1, 'answer', Flag.END_STREAM));
      expect(stream.events).toEqual([':status=200', 'end answer']);
      expect(await wire.frames()).not.toContainEqual(expect.objectContaining({ type: FrameType.RST_STREAM }));
    });

    it('does not send the rest of a request that the server did not wait for', async () => {
      const connection = await greeted([[Setting.INITIAL_WINDOW_SIZE, 3]]);
      const stream = request(connection, 'question');
      await wire.send(headers(1, OK, Flag.END_STREAM), windowUpdateFrame(1, 100));
      expect(stream.events).toEqual([':status=200', 'end ']);
      const frames = await wire.frames();
      expect(sentData(frames)).toEqual(['1: que']);
      expect(frames.at(-1)).toMatchObject({ type: FrameType.RST_STREAM, streamId: 1 });
      expect(closed).toBeUndefined();
    });

    it('resets a stream whose data make no sense, and no other', async () => {
      const connection = await greeted();
      const [bad, good] = [request(connection, 'a'), request(connection, 'b')];
      await wire.send(
        headers(1, OK),
        data(1, 'nonsense'),
        data(1, 'more'),
        headers(3, OK),
        data(3, 'b', Flag.END_STREAM),
      );
      expect(bad.events).toEqual([':status=200', 'failed: that is nonsense']);
      expect(good.events).toEqual([':status=200', 'end b']);
      expect((await wire.frames()).at(-1)).toMatchObject({ type: FrameType.RST_STREAM, streamId: 1 });
    });
  });

  describe('with small windows', () => {
    it('sends as much as the stream takes', async () => {
      const connection = await greeted([[Setting.INITIAL_WINDOW_SIZE, 4]]);
      request(connection, 'abcdefghij');
      expect(sentData(await wire.frames())).toEqual(['1: abcd']);
      await wire.send(windowUpdateFrame(1, 3));
      expect(sentData(await wire.frames())).toEqual(['1: efg']);
      await wire.send(windowUpdateFrame(0, 1_000));
      expect(sentData(await wire.frames())).toEqual([]);
      await wire.send(windowUpdateFrame(1, 3));
      expect(sentData(await wire.frames())).toEqual(['1: hij.']);
    });

    it('sends as much as the connection takes, first come first served', async () => {
      const connection = await greeted([[Setting.INITIAL_WINDOW_SIZE, 1_000_000]]);
      request(connection, 'x'.repeat(65_530));
      request(connection, 'abcdefghij');
      request(connection, 'klm');
      expect(sentData(await wire.frames()).slice(-1)).toEqual(['3: abcde']);
      await wire.send(windowUpdateFrame(0, 6));
      expect(sentData(await wire.frames())).toEqual(['3: fghij.', '5: k']);
      await wire.send(windowUpdateFrame(0, 2));
      expect(sentData(await wire.frames())).toEqual(['5: lm.']);
    });

    it('heeds a change of the windows, also to below zero', async () => {
      const connection = await greeted([[Setting.INITIAL_WINDOW_SIZE, 4]]);
      request(connection, 'abcdefghij');
      expect(sentData(await wire.frames())).toEqual(['1: abcd']);
      await wire.send(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 1]])); // 3 below
      await wire.send(windowUpdateFrame(1, 3));
      expect(sentData(await wire.frames())).toEqual([]);
      await wire.send(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 3]]));
      expect(sentData(await wire.frames())).toEqual(['1: ef']);
      await wire.send(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 100]]));
      expect(sentData(await wire.frames())).toEqual(['1: ghij.']);
    });

    it('ends a stream without a window when there is nothing to say', async () => {
      const connection = await greeted([[Setting.INITIAL_WINDOW_SIZE, 4]]);
      const stream = request(connection, 'abcd', false);
      await wire.send(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 0]]));
      connection.send(stream, [], true);
      expect(sentData(await wire.frames())).toEqual(['1: abcd', '1: .']);
    });

    it('puts large messages into frames that every server takes', async () => {
      const connection = await greeted();
      request(connection, 'x'.repeat(40_000));
      const sizes = (await wire.frames()).slice(1).map(({ payload }) => payload.length);
      expect(sizes).toEqual([16_384, 16_384, 7_232]);
    });

    it('gives back what it took when it is half a window, padding included', async () => {
      const connection = await greeted([], { streamWindowBytes: 30_000, connectionWindowBytes: 70_000 });
      request(connection, 'a');
      await wire.frames();
      const payload = Buffer.concat([Buffer.from([200]), Buffer.alloc(9_999)]);
      const padded = frame(FrameType.DATA, Flag.PADDED, 1, payload);
      await wire.send(headers(1, OK), padded);
      expect(await wire.frames()).toEqual([]);
      await wire.send(padded);
      expect(await wire.frames()).toMatchObject([{ type: FrameType.WINDOW_UPDATE, streamId: 1 }]);
      await wire.send(padded, padded);
      const updates = (await wire.frames()).map((update) => [update.streamId, update.payload.readUInt32BE()]);
      expect(updates).toEqual([
        [0, 40_000],
        [1, 20_000],
      ]);
    });

    it('gives back to the connection what comes for a stream that it has cancelled', async () => {
      const connection = await greeted([], { connectionWindowBytes: 70_000 });
      connection.cancel(request(connection, 'a'));
      await wire.frames();
      const late = data(1, 'x'.repeat(16_000));
      await wire.send(headers(1, OK), late, late, late, resetFrame(1, ErrorCode.CANCEL), windowUpdateFrame(1, 1));
      expect(await wire.frames()).toMatchObject([{ type: FrameType.WINDOW_UPDATE, streamId: 0 }]);
      expect(closed).toBeUndefined();
    });
  });

  describe('whose server limits the streams', () => {
    it('lets the next one in when one has ended', async () => {
      const connection = await greeted([[Setting.MAX_CONCURRENT_STREAMS, 1]]);
      const [first, second] = [request(connection, 'a'), request(connection, 'b'), request(connection, 'c')];
      expect(sentData(await wire.frames())).toEqual(['1: a.']);
      await wire.send(headers(1, OK, Flag.END_STREAM));
      expect(first.events).toEqual([':status=200', 'end ']);
      expect(sentData(await wire.frames())).toEqual(['3: b.']);
      connection.cancel(second);
      expect(sentData(await wire.frames())).toEqual(['5: c.']);
    });

    it('forgets one that is cancelled before its turn', async () => {
      const connection = await greeted([[Setting.MAX_CONCURRENT_STREAMS, 1]]);
      const waiting = [request(connection, 'a'), request(connection, 'b'), request(connection, 'c')];
      expect([...connection.streams()]).toEqual(waiting);
      connection.cancel(waiting[1]!);
      await wire.frames();
      await wire.send(headers(1, OK, Flag.END_STREAM));
      expect(sentData(await wire.frames())).toEqual(['3: c.']);
    });

    it('opens a hundred before it knows the limit', async () => {
      const connection = connect();
      for (let index = 0; index < 101; index++) request(connection, 'a');
      expect(sentData(await wire.frames())).toHaveLength(100);
      await wire.send(settingsFrame([]));
      expect(sentData(await wire.frames())).toEqual(['201: a.']);
    });
  });

  describe('that ends', () => {
    it('tells what may have been seen from what has not', async () => {
      const connection = await greeted([[Setting.MAX_CONCURRENT_STREAMS, 2]]);
      const sent = request(connection, 'a');
      await wire.frames();
      const [written, waiting] = [request(connection, 'b'), request(connection, 'c')];
      connection.destroy(new Error('it broke'));
      expect([sent, written, waiting].map(({ events }) => events)).toEqual([
        ['failed: it broke'],
        ['unsent: it broke'],
        ['unsent: it broke'],
      ]);
      expect(closed?.message).toBe('it broke');
      expect([...connection.streams()]).toEqual([]);
    });

    it('fails its streams when the server closes its side', async () => {
      const stream = request(await greeted(), 'a');
      await wire.frames();
      wire.push(null);
      await turn();
      expect(stream.events).toEqual(['failed: the server closed the connection']);
      expect(wire.destroyed).toBe(true);
    });

    it('was never seen by a server before it was started', async () => {
      wire = new Wire();
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
      const connection = await greeted([[Setting.MAX_CONCURRENT_STREAMS, 2]]);
      const [seen, unseen, waiting] = [request(connection, 'a'), request(connection, 'b'), request(connection, 'c')];
      await wire.send(goAway(2 ** 31 - 1, ErrorCode.NO_ERROR));
      expect(goneAway).toBe(1);
      expect(waiting.events).toEqual(['unsent: the server said goodbye (NO_ERROR bye)']);
      expect(unseen.events).toEqual([]);
      await wire.send(goAway(1, ErrorCode.NO_ERROR));
      expect(unseen.events).toEqual(['unsent: the server said goodbye (NO_ERROR bye)']);
      expect(goneAway).toBe(1);
      expect(closed).toBeUndefined();
      await wire.send(headers(1, OK), data(1, 'answer', Flag.END_STREAM));
      expect(seen.events).toEqual([':status=200', 'end answer']);
      expect(closed?.message).toBe('the server said goodbye (NO_ERROR bye)');
      expect(wire.destroyed).toBe(true);
    });

    it('ends at once after a GOAWAY when it is idle', async () => {
      await greeted();
      await wire.send(goAway(0, ErrorCode.ENHANCE_YOUR_CALM));
      expect(goneAway).toBe(1);
      expect(closed?.message).toBe('the server said goodbye (ENHANCE_YOUR_CALM bye)');
    });

    it('takes no streams beyond the last number, and ends with those it has', async () => {
      const connection = await greeted([], { firstStreamId: 2 ** 31 - 1 });
      const stream = request(connection, 'a');
      expect(goneAway).toBe(1);
      await wire.send(headers(2 ** 31 - 1, OK, Flag.END_STREAM));
      expect(stream.events).toEqual([':status=200', 'end ']);
      expect(closed?.message).toBe('the stream numbers are used up');
    });

    it.each([
      ['unsent', ErrorCode.REFUSED_STREAM, 'unsent: the server reset the stream (REFUSED_STREAM)'],
      ['failed', ErrorCode.INTERNAL_ERROR, 'failed: the server reset the stream (INTERNAL_ERROR)'],
      ['failed', 0x1234, 'failed: the server reset the stream (error 4660)'],
    ])('calls one stream %s that is reset with %d, and goes on', async (_, code, event) => {
      const stream = request(await greeted(), 'a');
      await wire.send(resetFrame(1, code));
      expect(stream.events).toEqual([event]);
      expect(closed).toBeUndefined();
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
      const stream = request(await greeted(), 'a');
      await wire.frames();
      await wire.send(bytes);
      expect(closed).toBeInstanceOf(Http2Error);
      expect(closed!.message).toContain(message);
      expect(stream.events).toEqual([`failed: ${closed!.message}`]);
      const last = (await wire.frames()).at(-1)!;
      expect(last.type).toBe(FrameType.GOAWAY);
      expect(last.payload.readUInt32BE(4)).toBe((closed as Http2Error).code);
    });

    it.each([
      ['speaks HTTP/1.1', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
      ['begins without SETTINGS', PING],
    ])('in that it %s is none of HTTP/2', async (_, bytes) => {
      connect();
      await wire.send(bytes);
      expect(closed?.message).toBe('the server does not speak HTTP/2 (PROTOCOL_ERROR)');
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
          const stream = request(await greeted(), 'a');
          for (const part of parts) wire.push(Buffer.from(part));
          await turn();
          const isGone = goneAway > 0 || closed === undefined;
          expect(isGone || closed instanceof Http2Error).toBe(true);
          expect(stream.isClosed || closed === undefined).toBe(true);
        }),
        { numRuns: 500 },
      );
    });
  });
});
