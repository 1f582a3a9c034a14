import {
  Flag,
  frameHeader,
  FrameType,
  PREFACE,
  Setting,
  settingsFrame,
  SETTINGS_ACK,
  windowUpdateFrame,
} from '../../http2/frames';
import { frame } from '../../http2/wire.fixture';
import { ask, asked, greeted, said, serve } from './server-connection.fixture';

const HELLO = Buffer.concat([PREFACE, settingsFrame([]), SETTINGS_ACK]);

describe('the beginning of an HTTP/2 connection', () => {
  it('is the settings of the server, and a window for all its streams together', async () => {
    const { wire } = serve({ maxStreams: 10 });
    const [settings, window, ...rest] = await wire.frames();
    const expected: [number, number][] = [
      [Setting.MAX_CONCURRENT_STREAMS, 10],
      [Setting.INITIAL_WINDOW_SIZE, 256 * 1024],
      [Setting.MAX_FRAME_SIZE, 256 * 1024],
      [Setting.MAX_HEADER_LIST_SIZE, 128 * 1024],
    ];
    expect(settings!.payload).toEqual(settingsFrame(expected).subarray(9));
    expect(window).toMatchObject({ type: FrameType.WINDOW_UPDATE, streamId: 0 });
    expect(window!.payload.readUInt32BE()).toBe(1024 * 1024 - 65_535);
    expect(rest).toEqual([]);
  });

  it('is answered when the client has said its settings', async () => {
    const served = serve();
    await said(served);
    await served.wire.send(PREFACE);
    expect(await said(served)).toEqual([]);
    await served.wire.send(settingsFrame([]));
    expect(await said(served)).toEqual(['settings acknowledged']);
    await served.wire.send(SETTINGS_ACK);
    expect(await said(served)).toEqual([]);
  });

  it('may come with the first request in one piece', async () => {
    const served = serve();
    await served.wire.send(Buffer.concat([HELLO, ask(1), ask(3)]));
    expect(served.streams.map(({ id }) => id)).toEqual([1, 3]);
  });

  it('may come byte by byte', async () => {
    const served = serve();
    for (const byte of Buffer.concat([HELLO, ask(1)])) await served.wire.send(Buffer.from([byte]));
    expect(served.streams).toHaveLength(1);
    expect(served.told).toEqual({ closed: 0, faults: [] });
  });

  it.each([
    ['HTTP/1.1', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a preface with another end', Buffer.concat([PREFACE.subarray(0, 23), Buffer.from('x')])],
    ['a request before the settings', Buffer.concat([PREFACE, ask(1)])],
    ['an acknowledgement before the settings', Buffer.concat([PREFACE, SETTINGS_ACK, ask(1)])],
  ])('is refused when it is %s', async (_, bytes) => {
    const served = serve();
    await said(served);
    await served.wire.send(bytes);
    expect(await said(served)).toEqual(['go away after 0 PROTOCOL_ERROR']);
    expect(served.streams).toEqual([]);
    expect(served.wire.writableEnded).toBe(true);
    expect(served.told.faults).toEqual([]);
  });

  it('is refused at its first wrong byte', async () => {
    const served = serve();
    await said(served);
    await served.wire.send(PREFACE.subarray(0, 10));
    await served.wire.send(Buffer.from('x'));
    expect(await said(served)).toEqual(['go away after 0 PROTOCOL_ERROR']);
  });
});

describe('a connection that goes on', () => {
  it('answers pings and leaves their answers alone', async () => {
    const served = await greeted();
    await served.wire.send(
      frame(FrameType.PING, 0, 0, Buffer.from('12345678')),
      frame(FrameType.PING, Flag.ACK, 0, Buffer.from('abcdefgh')),
    );
    expect(await said(served)).toEqual(['pong 12345678']);
  });

  it.each([
    ['an unknown frame', frame(0xfa, 0xff, 77, Buffer.from('nobody knows'))],
    ['a priority', frame(FrameType.PRIORITY, 0, 1, Buffer.alloc(5))],
    ['a GOAWAY of the client', frame(FrameType.GOAWAY, 0, 0, Buffer.alloc(8))],
    ['the end of a stream that has ended', frame(FrameType.RST_STREAM, 0, 1, Buffer.alloc(4))],
    ['a window of a stream that has ended', windowUpdateFrame(1, 5)],
    ['settings that nobody knows', frame(FrameType.SETTINGS, 0, 0, Buffer.from([0xff, 0xff, 1, 2, 3, 4]))],
    ['the largest frame', Buffer.concat([frameHeader(256 * 1024, 0xfa, 0, 1), Buffer.alloc(256 * 1024)])],
  ])('is not disturbed by %s', async (_, bytes) => {
    const served = await greeted();
    (await asked(served, ask(1))).response.end();
    await served.wire.send(bytes, ask(3));
    served.streams[1]!.response.end();
    const lines = await said(served);
    expect(lines.filter((line) => line !== 'settings acknowledged')).toEqual(['1: 200.', '3: 200.']);
  });
});
