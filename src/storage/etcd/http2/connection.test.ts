import { setImmediate as turn } from 'node:timers/promises';
import { Flag, FrameType, PING, Setting, settingsFrame, windowUpdateFrame } from '../../../http2/frames';
import { encodeHeaders } from '../../../http2/hpack';
import { connect, greeted, OK, REQUEST, request, TestStream } from './connection.fixture';
import { data, frame, headers, sentData } from '../../../http2/wire.fixture';

const TRAILERS = encodeHeaders({ 'grpc-status': '0' });

describe('an HTTP/2 connection', () => {
  it('begins with its settings, and acknowledges those of the server', async () => {
    const { wire } = connect();
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
    const { connection, wire } = await greeted();
    const before = wire.writes;
    request(connection, 'one');
    request(connection, 'two');
    expect(sentData(await wire.frames())).toEqual(['1: one.', '3: two.']);
    expect(wire.writes).toBe(before + 1);
  });

  it('makes a copy of what it sends, whether that leaves at once or has to wait', async () => {
    const { connection, wire } = await greeted([
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
    const { connection, wire } = await greeted();
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
    const { wire } = await greeted();
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
    const { connection, wire, told } = await greeted();
    connection.ping(20);
    await wire.send(frame(FrameType.PING, Flag.ACK, 0, PING.subarray(9)));
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(told.closed).toBeUndefined();
    connection.ping(20);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(told.closed?.message).toBe('the server does not answer pings');
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
      const { connection, wire } = connect();
      const stream = request(connection, 'question');
      await wire.send(split);
      expect(stream.events).toEqual(events);
    });

    it('reads it byte by byte', async () => {
      const { connection, wire } = connect();
      const stream = request(connection, 'question');
      for (const byte of split) wire.push(Buffer.from([byte]));
      await turn();
      expect(stream.events).toEqual(events);
    });

    it('reads it cut in two anywhere', async () => {
      for (let cut = 1; cut < split.length; cut++) {
        const { connection, wire } = connect();
        const stream = request(connection, 'question');
        wire.push(split.subarray(0, cut));
        wire.push(split.subarray(cut));
        await turn();
        expect(stream.events).toEqual(events);
      }
    });

    it('ends the stream with the data, where nothing follows', async () => {
      const { connection, wire } = await greeted();
      const stream = request(connection, 'question');
      await wire.send(headers(1, OK), data(1, 'answer', Flag.END_STREAM));
      expect(stream.events).toEqual([':status=200', 'end answer']);
      expect(await wire.frames()).not.toContainEqual(expect.objectContaining({ type: FrameType.RST_STREAM }));
    });

    it('does not send the rest of a request that the server did not wait for', async () => {
      const { connection, wire, told } = await greeted([[Setting.INITIAL_WINDOW_SIZE, 3]]);
      const stream = request(connection, 'question');
      await wire.send(headers(1, OK, Flag.END_STREAM), windowUpdateFrame(1, 100));
      expect(stream.events).toEqual([':status=200', 'end ']);
      const frames = await wire.frames();
      expect(sentData(frames)).toEqual(['1: que']);
      expect(frames.at(-1)).toMatchObject({ type: FrameType.RST_STREAM, streamId: 1 });
      expect(told.closed).toBeUndefined();
    });

    it('resets a stream whose data make no sense, and no other', async () => {
      const { connection, wire } = await greeted();
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

  describe('whose server limits the streams', () => {
    it('lets the next one in when one has ended', async () => {
      const { connection, wire } = await greeted([[Setting.MAX_CONCURRENT_STREAMS, 1]]);
      const [first, second] = [request(connection, 'a'), request(connection, 'b'), request(connection, 'c')];
      expect(sentData(await wire.frames())).toEqual(['1: a.']);
      await wire.send(headers(1, OK, Flag.END_STREAM));
      expect(first.events).toEqual([':status=200', 'end ']);
      expect(sentData(await wire.frames())).toEqual(['3: b.']);
      connection.cancel(second);
      expect(sentData(await wire.frames())).toEqual(['5: c.']);
    });

    it('forgets one that is cancelled before its turn', async () => {
      const { connection, wire } = await greeted([[Setting.MAX_CONCURRENT_STREAMS, 1]]);
      const waiting = [request(connection, 'a'), request(connection, 'b'), request(connection, 'c')];
      expect([...connection.streams()]).toEqual(waiting);
      connection.cancel(waiting[1]!);
      await wire.frames();
      await wire.send(headers(1, OK, Flag.END_STREAM));
      expect(sentData(await wire.frames())).toEqual(['3: c.']);
    });

    it('opens a hundred before it knows the limit', async () => {
      const { connection, wire } = connect();
      for (let index = 0; index < 101; index++) request(connection, 'a');
      expect(sentData(await wire.frames())).toHaveLength(100);
      await wire.send(settingsFrame([]));
      expect(sentData(await wire.frames())).toEqual(['201: a.']);
    });
  });
});
