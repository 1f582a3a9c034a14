import { setImmediate as turn } from 'node:timers/promises';
import { pacedEnds } from '../../async/paced-ends';
import { PacedStarts } from '../../async/paced-starts';
import { Flag, FrameType, PREFACE, resetFrame, settingsFrame, windowUpdateFrame } from '../../http2/frames';
import { encodeHeaders } from '../../http2/hpack';
import { ErrorCode } from '../../http2/http2-error';
import { data, frame } from '../../http2/wire.fixture';
import { ask, asked, firstWindow, greeted, post, PSEUDO, said, serve, type Served } from './server-connection.fixture';
import type { Http2ServerStream } from './server-stream';

const CANCEL = (streamId: number): Buffer => resetFrame(streamId, ErrorCode.CANCEL);

function listen({ request, response }: Http2ServerStream): string[] {
  const heard: string[] = [];
  for (const event of ['end', 'close'] as const) request.on(event, () => heard.push(`request ${event}`));
  for (const event of ['finish', 'close']) response.on(event, () => heard.push(`response ${event}`));
  return heard;
}

describe('a stream that its client gives up', () => {
  it('before it was answered ends its request and its answer', async () => {
    const served = await greeted();
    const stream = await asked(served, post(1));
    const heard = listen(stream);
    await served.wire.send(CANCEL(1));
    expect(await said(served)).toEqual([]);
    expect(heard).toEqual(['request close', 'response close']);
    expect(stream.response).toMatchObject({ writableFinished: false, destroyed: true });
    stream.response.end('too late');
    await served.wire.send(ask(3));
    expect(served.streams).toHaveLength(2);
    expect(await said(served)).toEqual([]);
  });

  it('in the middle of its answer ends that', async () => {
    const served = await greeted();
    const stream = await asked(served, ask(1));
    const heard = listen(stream);
    stream.response.write('event');
    await said(served);
    await served.wire.send(CANCEL(1));
    expect(heard).toEqual(['response close']);
    expect(stream.response.writableFinished).toBe(false);
    expect(await said(served)).toEqual([]);
  });

  it('when it was answered already has had its answer', async () => {
    const served = await greeted();
    const stream = await asked(served, ask(1));
    const heard = listen(stream);
    stream.response.end('all');
    await said(served);
    await served.wire.send(CANCEL(1));
    expect(heard).toEqual(['response finish', 'response close']);
  });

  it('makes room for another', async () => {
    const served = await greeted([], { maxStreams: 1 });
    await served.wire.send(ask(1), CANCEL(1), ask(3));
    expect(served.streams).toHaveLength(2);
    expect(await said(served)).toEqual([]);
  });
});

describe('a client that gives up thousands of requests', () => {
  it('is sent away when it had no answer to them', async () => {
    const served = await greeted();
    for (let id = 1; id < 3_000; id += 2) await served.wire.send(ask(id), CANCEL(id));
    expect(await said(served)).toEqual([expect.stringMatching(/^go away after \d+ ENHANCE_YOUR_CALM$/)]);
    // The budget, and what came back to it meanwhile.
    expect(served.streams.length).toBeGreaterThan(1_000);
    expect(served.streams.length).toBeLessThan(1_200);
    expect(served.told.faults).toEqual([]);
  });

  it('is sent away when they were malformed', async () => {
    const served = await greeted();
    for (let id = 1; id < 3_000; id += 2) await served.wire.send(ask(id, { connection: 'close' }));
    expect((await said(served)).at(-1)).toMatch(/ENHANCE_YOUR_CALM$/);
  });

  it('is sent away when it had seen no more than the head of each answer, twice as late', async () => {
    const served = await greeted([], { onRequest: ({ response }) => response.flushHeaders() });
    for (let id = 1; id < 1_500; id += 2) await served.wire.send(ask(id), CANCEL(id));
    // All watches of a connection, three times in a row.
    expect((await said(served)).at(-1)).toBe('1499: 200');
    for (let id = 1_501; id < 6_000; id += 2) await served.wire.send(ask(id), CANCEL(id));
    expect((await said(served)).at(-1)).toMatch(/ENHANCE_YOUR_CALM$/);
    expect(served.connection.heldBytes).toBe(0);
  });

  it('is sent away when they were more than it was allowed', async () => {
    const served = await greeted([], { maxStreams: 1 });
    for (let id = 1; id < 3_000; id += 2) await served.wire.send(ask(id));
    const lines = await said(served);
    expect(lines.filter((line) => line.endsWith('REFUSED_STREAM')).length).toBeGreaterThanOrEqual(1_000);
    expect(lines.at(-1)).toMatch(/ENHANCE_YOUR_CALM$/);
  });

  it('is sent away when their headers were too large', async () => {
    const served = await greeted();
    const large = ask(1, { a: 'x'.repeat(200_000) });
    for (let id = 1; id < 3_000; id += 2) {
      large.writeUInt32BE(id, 5);
      await served.wire.send(large);
    }
    const lines = await said(served);
    expect(lines.slice(0, 2)).toEqual(['1: 431', '1: "431 Request Header Fields Too Large".']);
    expect(lines.at(-1)).toMatch(/ENHANCE_YOUR_CALM$/);
  });
});

describe('a connection that is to end', () => {
  it('says so, answers what was asked, ignores what is asked later, and ends', async () => {
    const served = await greeted();
    await served.wire.send(ask(1), post(3));
    served.connection.drain();
    served.connection.drain();
    expect(await said(served)).toEqual(['go away after 3 NO_ERROR']);
    await served.wire.send(post(5), data(5, 'unheard', Flag.END_STREAM), ask(7), windowUpdateFrame(7, 10), CANCEL(7));
    expect(served.streams.map(({ id }) => id)).toEqual([1, 3]);
    served.streams[0]!.response.end('first');
    expect(await said(served)).toEqual(['1: 200', '1: "first".']);
    expect(served.wire.writableEnded).toBe(false);
    const [, second] = served.streams;
    second!.request.on('end', () => second!.response.end('second'));
    second!.request.resume();
    await served.wire.send(data(3, 'body', Flag.END_STREAM));
    expect(await said(served)).toEqual(['3: 200', '3: "second".']);
    expect(served.wire.writableEnded).toBe(true);
    expect(served.told.closed).toBe(0);
    served.wire.push(null);
    await turn();
    expect(served.told).toEqual({ closed: 1, faults: [] });
  });

  it('ends at once when nothing is under way', async () => {
    const served = await greeted();
    served.connection.drain();
    expect(await said(served)).toEqual(['go away after 0 NO_ERROR']);
    expect(served.wire.writableEnded).toBe(true);
  });

  it('says so even when much was to be said before', async () => {
    const served = await greeted();
    (await asked(served, ask(1))).response.end(Buffer.alloc(32_700));
    served.connection.drain();
    expect(await said(served)).toEqual(['1: 200', '1: 16384', '1: 16316.', 'go away after 1 NO_ERROR']);
  });

  it('ends when the last stream is given up', async () => {
    const served = await greeted();
    await asked(served, ask(1));
    served.connection.drain();
    await said(served);
    await served.wire.send(CANCEL(1));
    expect(served.wire.writableEnded).toBe(true);
  });

  it('ends after an answer that is the last of its connection', async () => {
    const served = await greeted();
    const { response } = await asked(served, ask(1));
    response.setHeader('Connection', 'close');
    response.end('bye');
    const lines = await said(served);
    expect(lines.sort()).toEqual(['1: "bye".', '1: 200', 'go away after 1 NO_ERROR']);
    expect(served.wire.writableEnded).toBe(true);
  });
});

describe('the end of a connection', () => {
  it.each<[string, (served: Served) => unknown]>([
    ['by the client', ({ wire }) => wire.push(null)],
    ['by an error', ({ wire }) => wire.destroy(new Error('ECONNRESET'))],
    ['by the network', ({ wire }) => wire.destroy()],
    ['by its owner', ({ connection }) => connection.destroy()],
  ])('%s ends all of its streams, and is told once', async (_, end) => {
    const served = await greeted();
    await served.wire.send(ask(1), post(3));
    const heard = served.streams.map(listen);
    end(served);
    await turn();
    await turn();
    expect(heard).toEqual([['response close'], ['request close', 'response close']]);
    served.connection.destroy();
    served.connection.drain();
    await turn();
    expect(served.told).toEqual({ closed: 1, faults: [] });
    expect(served.wire.destroyed).toBe(true);
    for (const { response } of served.streams) response.end('too late');
  });

  it('by a fault of ours is told to the client and to the owner', async () => {
    const fault = new Error('a fault');
    const served = await greeted([], {
      onRequest: () => {
        throw fault;
      },
    });
    await served.wire.send(ask(1));
    expect(await said(served)).toEqual(['go away after 1 INTERNAL_ERROR']);
    expect(served.told.faults).toEqual([fault]);
  });

  it('by an error of the client ends its streams at once, even if it does not read why', async () => {
    const served = await greeted();
    const stream = await asked(served, post(1));
    const heard = listen(stream);
    served.wire.hold();
    await served.wire.send(data(0, 'x'));
    await turn();
    expect(heard).toEqual(['request close', 'response close']);
    expect(stream.response.writable).toBe(false);
    served.connection.destroy();
    expect(heard).toHaveLength(2);
  });

  it('finds an answer unfinished that was ready and could not leave', async () => {
    const served = await greeted();
    const stream = await asked(served, ask(1));
    const heard = listen(stream);
    stream.response.end('ready');
    served.connection.destroy();
    expect(heard).toEqual(['response close']);
    expect(stream.response.writableFinished).toBe(false);
  });

  it('tells its streams when it is their turn among those of other connections', async () => {
    const begin: (() => void)[] = [];
    const endings = new PacedStarts();
    jest.spyOn(endings, 'mayBegin').mockReturnValue(false);
    jest.spyOn(endings, 'wait').mockImplementation((_owner, work) => void begin.push(work));
    const served = await greeted([], { endings });
    const heard = listen(await asked(served, ask(1)));
    served.connection.destroy();
    await turn();
    await turn();
    expect(heard).toEqual([]);
    for (const work of begin) work();
    expect(heard).toEqual(['response close']);
  });

  it('tells hundreds of streams a few in a turn, all of which are over at once', async () => {
    const served = await greeted([], { maxStreams: 50, endings: pacedEnds() });
    const requests = Array.from({ length: 50 }, (_, index) => ask(2 * index + 1));
    await asked(served, ...requests);
    let told = 0;
    for (const { response } of served.streams) response.on('close', () => told++);
    let nowMs = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 0.1));
    try {
      served.connection.destroy();
      expect(served.streams.filter(({ isClosed }) => !isClosed)).toEqual([]);
      const turns = [told];
      while (turns.length < 60 && told < 50) {
        const before = told;
        await turn();
        turns.push(told - before);
      }
      expect(told).toBe(50);
      expect(Math.max(...turns)).toBeLessThan(10);
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('by an error of the client sends what was ready before', async () => {
    const served = await greeted();
    const stream = await asked(served, ask(1));
    stream.response.end('ready');
    await served.wire.send(data(0, 'x'), ask(3));
    expect(await said(served)).toEqual(['1: 200', '1: "ready".', 'go away after 1 PROTOCOL_ERROR']);
    expect(served.streams).toHaveLength(1);
  });
});

describe('a client that is silent', () => {
  const halfBlock = frame(FrameType.HEADERS, Flag.END_STREAM, 1, encodeHeaders(PSEUDO));
  const more = frame(FrameType.CONTINUATION, 0, 1);
  const part = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length - 1);

  /** Lets seconds go by, with a look at the deadlines in each. */
  async function wait(served: Served, seconds: number, each?: (second: number) => Promise<void>): Promise<void> {
    const from = served.lookedAt;
    for (let second = 1; second <= seconds; second++) {
      await each?.(second);
      served.connection.sweep((served.lookedAt = from + 1_000 * second));
    }
  }

  it.each<[string, number, readonly Buffer[]]>([
    ['ten seconds before it begins', 10, [PREFACE.subarray(0, 23)]],
    ['ten seconds before its settings', 10, [PREFACE]],
    ['ten seconds in a block of headers', 10, [PREFACE, settingsFrame([]), halfBlock]],
    ['ten seconds in a block of headers, whatever comes meanwhile', 10, [PREFACE, settingsFrame([]), halfBlock, more]],
    ['32 seconds in a frame', 32, [PREFACE, settingsFrame([]), part(data(1, 'abc'))]],
    ['32 seconds in the head of a frame', 32, [PREFACE, settingsFrame([]), Buffer.alloc(1)]],
    ['32 seconds in a frame while it has requests under way', 32, [PREFACE, settingsFrame([]), ask(1), part(ask(3))]],
  ])('is waited for no longer than %s', async (_, seconds, bytes) => {
    const served = serve();
    await served.wire.send(...bytes);
    served.connection.sweep(served.lookedAt);
    await wait(served, seconds - 1);
    expect(served.told.closed).toBe(0);
    await wait(served, 1);
    expect(served.told).toEqual({ closed: 1, faults: [] });
    expect(served.wire.destroyed).toBe(true);
  });

  it('is not waited for because it goes on with a block byte by byte', async () => {
    const served = await greeted();
    await served.wire.send(halfBlock);
    served.connection.sweep(served.lookedAt);
    await wait(served, 9, () => served.wire.send(more));
    expect(served.told.closed).toBe(0);
    await wait(served, 1, () => served.wire.send(more));
    expect(served.told.closed).toBe(1);
  });

  it('has its time anew for each block and each frame', async () => {
    const served = await greeted();
    const [end, block] = [frame(FrameType.CONTINUATION, Flag.END_HEADERS, 1), encodeHeaders(PSEUDO)];
    const rest = ask(5);
    await served.wire.send(halfBlock);
    await wait(served, 8);
    await served.wire.send(end, frame(FrameType.HEADERS, Flag.END_STREAM, 3, block));
    await wait(served, 8);
    await served.wire.send(frame(FrameType.CONTINUATION, Flag.END_HEADERS, 3), rest.subarray(0, 5));
    await wait(served, 30);
    await served.wire.send(rest.subarray(5), part(ask(7)));
    await wait(served, 30);
    expect(served.told.closed).toBe(0);
    expect(served.streams.map(({ id }) => id)).toEqual([1, 3, 5]);
    served.connection.destroy();
  });

  it('is not blamed for what we do not read', async () => {
    const served = await greeted();
    await served.wire.send(part(ask(1)));
    served.wire.pause();
    await wait(served, 60);
    expect(served.told.closed).toBe(0);
    served.wire.resume();
    await wait(served, 33);
    expect(served.told.closed).toBe(1);
  });

  it('is told to leave after a minute and a half without a request, pings or not', async () => {
    const served = await greeted();
    const ping = frame(FrameType.PING, 0, 0, Buffer.alloc(8));
    served.connection.sweep(served.lookedAt);
    await wait(served, 60, () => served.wire.send(ping));
    (await asked(served, ask(1))).response.end();
    await said(served);
    await wait(served, 90, () => served.wire.send(ping));
    expect(await said(served)).not.toContain('go away after 1 NO_ERROR');
    await wait(served, 1);
    expect(await said(served)).toEqual(['go away after 1 NO_ERROR']);
    expect(served.wire.writableEnded).toBe(true);
    served.connection.destroy();
  });

  it('may be silent for as long as its requests last', async () => {
    const served = await greeted();
    const { response } = await asked(served, ask(1));
    await wait(served, 3_600);
    response.end();
    expect(await said(served)).toEqual(['1: 200.']);
    served.connection.destroy();
  });

  it('has half a minute to take something of the last bytes of its connection', async () => {
    const served = await greeted();
    served.wire.hold();
    (await asked(served, ask(1))).response.end('bye');
    served.connection.drain();
    await turn();
    served.connection.sweep(served.lookedAt);
    await wait(served, 29);
    expect(served.told.closed).toBe(0);
    await wait(served, 1);
    expect(served.told.closed).toBe(1);
  });
});

describe('a client that takes its time', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] }));
  afterEach(() => jest.useRealTimers());

  it('has a second to leave when it was told to', async () => {
    const served = await greeted();
    served.connection.drain();
    await said(served);
    jest.advanceTimersByTime(900);
    expect(served.told.closed).toBe(0);
    jest.advanceTimersByTime(200);
    expect(served.told.closed).toBe(1);
    expect(served.wire.destroyed).toBe(true);
  });

  it('has a second from when it was handed its last answer, however long that takes', async () => {
    const served = await greeted(firstWindow(10_000_000));
    await served.wire.send(windowUpdateFrame(0, 10_000_000), ask(1));
    await said(served);
    const release = served.wire.hold();
    served.streams[0]!.response.end(Buffer.alloc(500_000));
    served.connection.drain();
    await turn();
    jest.advanceTimersByTime(20_000);
    expect(served.told.closed).toBe(0);
    release();
    for (let received = 0; received < 500_000; await turn()) {
      for (const { type, payload } of await served.wire.frames())
        if (type === FrameType.DATA) received += payload.length;
    }
    jest.advanceTimersByTime(900);
    expect(served.told.closed).toBe(0);
    jest.advanceTimersByTime(200);
    expect(served.told.closed).toBe(1);
  });

  it('has half a minute for the end of an answer, anew with each piece that it takes', async () => {
    const served = await greeted(firstWindow(10));
    const { response } = await asked(served, ask(1));
    response.end('x'.repeat(30));
    for (let taken = 10; taken <= 20; taken += 10) {
      expect(await said(served)).toContain('1: "xxxxxxxxxx"');
      jest.advanceTimersByTime(29_000);
      if (taken === 10) await served.wire.send(windowUpdateFrame(1, 10));
    }
    expect(await said(served)).toEqual([]);
    jest.advanceTimersByTime(2_000);
    expect(await said(served)).toEqual(['1: reset INTERNAL_ERROR']);
    expect(response.writableFinished).toBe(false);
    served.connection.destroy();
  });

  it('has a second to read why it is sent away', async () => {
    const served = await greeted();
    served.wire.hold();
    await served.wire.send(settingsFrame([]), data(0, 'x'));
    await turn();
    expect(served.told.closed).toBe(0);
    jest.advanceTimersByTime(1_100);
    expect(served.told.closed).toBe(1);
  });
});
