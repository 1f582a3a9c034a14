import { Flag, FrameType, resetFrame, Setting, settingsFrame, windowUpdateFrame } from '../../../http2/frames';
import { ErrorCode } from '../../../http2/http2-error';
import { greeted, OK, request } from './connection.fixture';
import { data, frame, headers, sentData } from '../../../http2/wire.fixture';

describe('an HTTP/2 connection with small windows', () => {
  it('sends as much as the stream takes', async () => {
    const { connection, wire } = await greeted([[Setting.INITIAL_WINDOW_SIZE, 4]]);
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
    const { connection, wire } = await greeted([[Setting.INITIAL_WINDOW_SIZE, 1_000_000]]);
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
    const { connection, wire } = await greeted([[Setting.INITIAL_WINDOW_SIZE, 4]]);
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
    const { connection, wire } = await greeted([[Setting.INITIAL_WINDOW_SIZE, 4]]);
    const stream = request(connection, 'abcd', false);
    await wire.send(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 0]]));
    connection.send(stream, [], true);
    expect(sentData(await wire.frames())).toEqual(['1: abcd', '1: .']);
  });

  it('puts large messages into frames that every server takes', async () => {
    const { connection, wire } = await greeted();
    request(connection, 'x'.repeat(40_000));
    const sizes = (await wire.frames()).slice(1).map(({ payload }) => payload.length);
    expect(sizes).toEqual([16_384, 16_384, 7_232]);
  });

  it('gives back what it took when it is half a window, padding included', async () => {
    const { connection, wire } = await greeted([], { streamWindowBytes: 30_000, connectionWindowBytes: 70_000 });
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
    const { connection, wire, told } = await greeted([], { connectionWindowBytes: 70_000 });
    connection.cancel(request(connection, 'a'));
    await wire.frames();
    const late = data(1, 'x'.repeat(16_000));
    await wire.send(headers(1, OK), late, late, late, resetFrame(1, ErrorCode.CANCEL), windowUpdateFrame(1, 1));
    expect(await wire.frames()).toMatchObject([{ type: FrameType.WINDOW_UPDATE, streamId: 0 }]);
    expect(told.closed).toBeUndefined();
  });
});
