import { setImmediate as turn } from 'node:timers/promises';
import { Flag, FrameType, resetFrame } from '../../http2/frames';
import { encodeHeaders } from '../../http2/hpack';
import { ErrorCode } from '../../http2/http2-error';
import { data, frame, headers } from '../../http2/wire.fixture';
import { ask, asked, greeted, post, said, type Served } from './server-connection.fixture';
import type { Http2Request } from './http2-request';

const WINDOW_BYTES = 256 * 1024;
const TRAILERS = encodeHeaders({ checksum: '1' });

/** What a request says of its body, as it says it. */
function listen(request: Http2Request): string[] {
  const heard: string[] = [];
  request.on('data', (chunk: Buffer) => heard.push(chunk.length > 40 ? String(chunk.length) : chunk.toString()));
  request.on('end', () => heard.push('end'));
  request.on('close', () => heard.push('close'));
  return heard;
}

const bytes = (streamId: number, count: number, flags = 0): Buffer =>
  frame(FrameType.DATA, flags, streamId, Buffer.alloc(count));

describe('the body of a request', () => {
  it('comes as the client sends it', async () => {
    const served = await greeted();
    const { request } = await asked(served, post(1));
    const heard = listen(request);
    await served.wire.send(data(1, 'one'));
    await served.wire.send(data(1, ''), data(1, 'two'), data(1, 'three', Flag.END_STREAM));
    expect(heard).toEqual(['one', 'two', 'three', 'end']);
    expect(request.readableEnded).toBe(true);
  });

  it('waits for whoever wants to hear it', async () => {
    const served = await greeted();
    const { request } = await asked(served, post(1), data(1, 'one'), data(1, 'two', Flag.END_STREAM));
    expect(request.readableEnded).toBe(false);
    const heard = listen(request);
    expect(heard).toEqual([]);
    await turn();
    expect(heard).toEqual(['onetwo', 'end']);
  });

  it('is dropped as it comes when nobody wants it', async () => {
    const served = await greeted();
    const { request } = await asked(served, post(1), data(1, 'one'));
    const end = jest.fn();
    request.resume();
    request.on('end', end);
    await served.wire.send(data(1, 'two', Flag.END_STREAM));
    expect(end).toHaveBeenCalledTimes(1);
  });

  it('comes without its padding', async () => {
    const served = await greeted();
    const heard = listen((await asked(served, post(1))).request);
    await served.wire.send(frame(FrameType.DATA, Flag.PADDED | Flag.END_STREAM, 1, Buffer.from('\u0002hello\0\0')));
    expect(heard).toEqual(['hello', 'end']);
  });

  it('may be followed by trailers, of which nothing is used', async () => {
    const served = await greeted();
    const { request, response } = await asked(served, post(1));
    const heard = listen(request);
    await served.wire.send(data(1, 'body'), headers(1, TRAILERS, Flag.END_STREAM));
    expect(heard).toEqual(['body', 'end']);
    response.end();
    expect(await said(served)).toEqual(['1: 200.']);
  });

  it('is not ended by headers that are no trailers', async () => {
    const served = await greeted();
    const heard = listen((await asked(served, post(1))).request);
    await served.wire.send(headers(1, TRAILERS));
    expect(await said(served)).toEqual(['1: reset PROTOCOL_ERROR']);
    expect(heard).toEqual(['close']);
  });

  it('may have any length up to the one that was said', async () => {
    const served = await greeted();
    const heard = listen((await asked(served, post(1, { 'content-length': '4' }))).request);
    await served.wire.send(data(1, 'bo'), data(1, 'dy', Flag.END_STREAM));
    expect(heard).toEqual(['bo', 'dy', 'end']);
  });

  it.each([
    ['longer', [data(1, 'bo'), data(1, 'dy!')]],
    ['shorter', [data(1, 'bo', Flag.END_STREAM)]],
    ['shorter, as its trailers tell', [data(1, 'bo'), headers(1, TRAILERS, Flag.END_STREAM)]],
  ])('is refused when it is %s than was said', async (_, frames) => {
    const served = await greeted();
    const stream = await asked(served, post(1, { 'content-length': '4' }));
    const heard = listen(stream.request);
    const closed = jest.fn();
    stream.response.on('close', closed);
    await served.wire.send(...frames);
    expect(await said(served)).toEqual(['1: reset PROTOCOL_ERROR']);
    expect(heard).toEqual(['bo', 'close']);
    expect(closed).toHaveBeenCalledTimes(1);
    expect(stream.response.writableFinished).toBe(false);
  });

  it('need not be sent any more when the answer is there', async () => {
    const served = await greeted();
    const { request, response } = await asked(served, post(1), data(1, 'half'));
    const closed = jest.fn();
    request.on('close', closed);
    response.end('enough');
    expect(await said(served)).toEqual(['1: 200', '1: "enough".', '1: reset NO_ERROR']);
    expect(closed).toHaveBeenCalledTimes(1);
    expect(response.writableFinished).toBe(true);
    // What was under way.
    await served.wire.send(data(1, 'rest'), data(1, '', Flag.END_STREAM), post(3));
    expect(served.streams.map(({ id }) => id)).toEqual([1, 3]);
    expect(await said(served)).toEqual([]);
  });

  it('that is dropped may end with trailers', async () => {
    const served = await greeted([], { maxStreams: 1 });
    const { response } = await asked(served, post(1), post(3));
    response.end();
    await said(served);
    for (const id of [1, 3]) await served.wire.send(data(id, 'rest'), headers(id, TRAILERS, Flag.END_STREAM));
    expect(await said(served)).toEqual([]);
    expect(served.told).toEqual({ closed: 0, faults: [] });
  });

  it('ends with its answer when that is sent from within', async () => {
    const served = await greeted();
    const { request, response } = await asked(served, post(1));
    request.on('data', () => response.end('seen'));
    await turn();
    await served.wire.send(data(1, 'body', Flag.END_STREAM));
    expect((await said(served)).slice(0, 2)).toEqual(['1: 200', '1: "seen".']);
    expect(served.told).toEqual({ closed: 0, faults: [] });
  });
});

describe('the window of a body', () => {
  const windows = async (served: Served): Promise<string[]> =>
    (await said(served)).filter((line) => line.includes('window') && !line.startsWith('0:'));

  it('opens again when half of it was taken', async () => {
    const served = await greeted();
    listen((await asked(served, post(1))).request);
    await served.wire.send(bytes(1, WINDOW_BYTES / 2 - 1));
    expect(await windows(served)).toEqual([]);
    await served.wire.send(bytes(1, 1));
    expect(await windows(served)).toEqual([`1: window ${WINDOW_BYTES / 2}`]);
  });

  it('opens for padding too', async () => {
    const served = await greeted();
    listen((await asked(served, post(1))).request);
    const padded = frame(FrameType.DATA, Flag.PADDED, 1, Buffer.alloc(256, 255));
    await served.wire.send(...Array.from({ length: WINDOW_BYTES / 2 / 256 }, () => padded));
    expect(await windows(served)).toEqual([`1: window ${WINDOW_BYTES / 2}`]);
  });

  it('stays closed as long as nobody listens', async () => {
    const served = await greeted();
    const { request } = await asked(served, post(1), bytes(1, WINDOW_BYTES - 10), bytes(1, 10));
    expect(await windows(served)).toEqual([]);
    const heard = listen(request);
    await turn();
    expect(heard).toEqual([String(WINDOW_BYTES)]);
    expect(await windows(served)).toEqual([`1: window ${WINDOW_BYTES}`]);
  });

  it('stays closed when nothing more will come', async () => {
    const served = await greeted();
    const { request } = await asked(served, post(1), bytes(1, WINDOW_BYTES, Flag.END_STREAM));
    const heard = listen(request);
    await turn();
    expect(heard).toEqual([String(WINDOW_BYTES), 'end']);
    expect(await windows(served)).toEqual([]);
  });

  it.each([
    ['the client has given it up', resetFrame(1, ErrorCode.CANCEL)],
    ['it was answered', undefined],
  ])('stays closed when %s', async (_, reset) => {
    const served = await greeted();
    const { request, response } = await asked(served, post(1), bytes(1, WINDOW_BYTES / 2));
    if (reset === undefined) response.end();
    else await served.wire.send(reset);
    await said(served);
    request.resume();
    await turn();
    expect(await windows(served)).toEqual([]);
  });

  it('may not be overrun', async () => {
    const served = await greeted();
    await asked(served, post(1), bytes(1, WINDOW_BYTES));
    await served.wire.send(bytes(1, 1));
    expect(await said(served)).toEqual(['go away after 1 FLOW_CONTROL_ERROR']);
  });

  it('lets a body through that is many times as large', async () => {
    const served = await greeted();
    const { request } = await asked(served, post(1));
    let received = 0;
    request.on('data', (chunk) => (received += (chunk as Buffer).length));
    let window = WINDOW_BYTES;
    for (let left = 3_000_000; left > 0;) {
      const count = Math.min(left, window, 16_384);
      left -= count;
      window -= count;
      await served.wire.send(bytes(1, count, left === 0 ? Flag.END_STREAM : 0));
      for (const line of await windows(served)) window += Number(line.split(' ')[2]);
    }
    expect(received).toBe(3_000_000);
    expect(served.told.closed).toBe(0);
  });

  describe('of the whole connection', () => {
    const MEBIBYTE = 1024 * 1024;
    /** By how much it was opened. */
    const opened = async (served: Served): Promise<number> =>
      (await said(served))
        .filter((line) => line.startsWith('0: window'))
        .reduce((sum, line) => sum + Number(line.split(' ')[2]), 0);

    it('stays closed for what nobody has taken, and may not be overrun', async () => {
      const served = await greeted();
      for (const id of [1, 3, 5, 7]) await served.wire.send(post(id), bytes(id, WINDOW_BYTES));
      expect(await opened(served)).toBe(0);
      const head = served.connection.heldBytes - MEBIBYTE;
      expect(head).toBeLessThan(1_000);
      await served.wire.send(post(9), bytes(9, 1));
      expect((await said(served)).at(-1)).toMatch(/FLOW_CONTROL_ERROR$/);
    });

    it('opens for what was taken, also when its body is whole', async () => {
      const served = await greeted();
      for (const id of [1, 3, 5, 7]) await served.wire.send(post(id), bytes(id, WINDOW_BYTES, Flag.END_STREAM));
      await said(served);
      for (const { request } of served.streams) request.resume();
      await turn();
      expect(await opened(served)).toBe(MEBIBYTE);
    });

    it('opens for what nobody will take any more', async () => {
      const served = await greeted();
      for (const id of [1, 3, 5, 7]) await served.wire.send(post(id), bytes(id, WINDOW_BYTES));
      await served.wire.send(resetFrame(1, ErrorCode.CANCEL));
      served.streams[1]!.response.end();
      expect(await opened(served)).toBe(MEBIBYTE / 2);
    });

    it('opens for streams that have ended', async () => {
      const served = await greeted([], { maxStreams: 1 });
      (await asked(served, post(1))).response.end();
      await said(served);
      for (let sent = 0; sent < 20; sent++) await served.wire.send(bytes(1, WINDOW_BYTES / 2));
      expect(await opened(served)).toBe((20 * WINDOW_BYTES) / 2);
    });

    it('is larger when the client has proved who it is', async () => {
      const served = await greeted();
      const { request } = await asked(served, post(1));
      request.trustClient();
      request.trustClient();
      expect(await opened(served)).toBe(3 * MEBIBYTE);
    });

    it('is never used up by bodies that are taken', async () => {
      const served = await greeted();
      for (const id of [1, 3, 5]) await served.wire.send(post(id), bytes(id, WINDOW_BYTES));
      const { request } = await asked(served, post(7));
      request.resume();
      let window = WINDOW_BYTES;
      for (let left = 3_000_000; left > 0;) {
        const count = Math.min(left, window, 16_384);
        left -= count;
        window -= count;
        await served.wire.send(bytes(7, count, left === 0 ? Flag.END_STREAM : 0));
        window += await opened(served);
        expect(window).toBeGreaterThan(0);
      }
      expect(served.told.closed).toBe(0);
    });
  });
});

describe('the body of a request that has none', () => {
  it('is dropped, and no more of it is asked for', async () => {
    const served = await greeted();
    const { request } = await asked(served, ask(1, {}, 0));
    const heard = listen(request);
    await served.wire.send(bytes(1, WINDOW_BYTES - 1));
    expect(served.connection.heldBytes).toBeLessThan(1_000);
    expect((await said(served)).filter((line) => line.startsWith('1:'))).toEqual([]);
    await served.wire.send(bytes(1, 1, Flag.END_STREAM));
    expect(heard).toEqual(['end']);
  });
});
