import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { FrameType, MAX_WINDOW_BYTES, resetFrame, settingsFrame, windowUpdateFrame } from '../../http2/frames';
import { ErrorCode } from '../../http2/http2-error';
import { data, frame } from '../../http2/wire.fixture';
import { ask, asked, firstWindow, greeted, post, said, type Served } from './server-connection.fixture';

/** A client that takes whatever comes. */
const wide = async (): Promise<Served> => {
  const served = await greeted(firstWindow(MAX_WINDOW_BYTES));
  await served.wire.send(windowUpdateFrame(0, MAX_WINDOW_BYTES - 65_535));
  return served;
};

describe('an answer that its client does not take at once', () => {
  it('waits until its client opens the window', async () => {
    const served = await greeted(firstWindow(4));
    const { response } = await asked(served, ask(1));
    const drained = jest.fn();
    const taken = jest.fn();
    response.on('drain', drained);
    expect(response.write('abcdef', taken)).toBe(false);
    expect(response.writableNeedDrain).toBe(true);
    await served.wire.send(windowUpdateFrame(1, 1));
    expect([taken, drained].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    await served.wire.send(windowUpdateFrame(1, 1));
    expect([taken, drained].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    expect(response.writableNeedDrain).toBe(false);
  });

  it('keeps its order', async () => {
    const served = await greeted(firstWindow(4));
    const { response } = await asked(served, ask(1));
    const order: string[] = [];
    for (const text of ['abc', 'def', 'ghi']) response.write(text, () => order.push(text));
    response.end('!');
    await served.wire.send(windowUpdateFrame(1, 100));
    const lines = await said(served);
    expect(lines.slice(1).map((line) => line.slice(4, line.lastIndexOf('"')))).toEqual(['abc', 'd', 'ef', 'ghi', '!']);
    expect(order).toEqual(['abc', 'def', 'ghi']);
  });

  it('ends with its trailers', async () => {
    const served = await greeted(firstWindow(4));
    const { response } = await asked(served, ask(1));
    response.write('abcdef');
    response.addTrailers({ 'X-Sum': '6' });
    response.end();
    await served.wire.send(windowUpdateFrame(1, 100));
    const lines = await said(served);
    expect(lines.slice(1)).toEqual(['1: "abcd"', '1: "ef"', '1: ""', '1: undefined.']);
  });

  it('waits for the socket', async () => {
    const served = await wide();
    const { response } = await asked(served, ask(1));
    const release = served.wire.hold();
    const drained = jest.fn();
    response.on('drain', drained);
    response.write(Buffer.alloc(300_000));
    await turn();
    expect(response.write(Buffer.alloc(100_000))).toBe(false);
    await turn();
    expect(drained).not.toHaveBeenCalled();
    release();
    await turn();
    expect(drained).toHaveBeenCalledTimes(1);
    expect(response.writableNeedDrain).toBe(false);
    expect(response.write('more')).toBe(true);
  });

  it('waits for both', async () => {
    const served = await greeted(firstWindow(110_000));
    await served.wire.send(windowUpdateFrame(0, 1_000_000));
    const { response } = await asked(served, ask(1));
    const release = served.wire.hold();
    const drained = jest.fn();
    response.on('drain', drained);
    response.write(Buffer.alloc(100_000));
    await turn();
    response.write(Buffer.alloc(20_000));
    release();
    await turn();
    expect(drained).not.toHaveBeenCalled();
    await served.wire.send(windowUpdateFrame(1, 20_000));
    expect(drained).toHaveBeenCalledTimes(1);
  });

  it('does not disturb the others', async () => {
    const served = await greeted(firstWindow(1));
    await served.wire.send(ask(1), ask(3));
    served.streams[0]!.response.end('abc');
    served.streams[1]!.response.end('d');
    expect(await said(served)).toEqual(['1: 200', '1: "a"', '3: 200', '3: "d".']);
  });

  it('may have its memory used again once that was taken', async () => {
    const served = await wide();
    const { response } = await asked(served, ask(1));
    const release = served.wire.hold();
    const memory = Buffer.alloc(20_000, 'a');
    for (const letter of 'bcd') response.write(memory, () => memory.fill(letter));
    response.end();
    await turn();
    release();
    const bodies = (await served.wire.frames()).filter(({ type }) => type === FrameType.DATA);
    const text = Buffer.concat(bodies.map(({ payload }) => payload)).toString();
    expect(text.replaceAll(/(.)\1+/g, '$1')).toBe('abc');
    expect(text).toHaveLength(60_000);
  });

  it.each<[string, (served: Served) => unknown]>([
    ['is given up', ({ wire }) => wire.send(resetFrame(1, ErrorCode.CANCEL))],
    ['is broken off', ({ streams }) => streams[0]!.response.destroy()],
    ['loses its connection', ({ wire }) => wire.destroy()],
    ['has its connection closed by the client', ({ wire }) => wire.push(null)],
    ['has its connection closed by the server', ({ connection }) => connection.destroy()],
    ['is on a connection that breaks the rules', ({ wire }) => wire.send(data(2, 'x'))],
  ])('tells whoever waits when it %s', async (_, end) => {
    const served = await greeted(firstWindow(4));
    const { response } = await asked(served, ask(1));
    const taken = [1, 2, 3].map(() => jest.fn<void, [error?: Error | null]>());
    const drained = jest.fn();
    const closed = jest.fn();
    response.on('drain', drained).on('close', closed);
    response.write('abc', taken[0]);
    response.write('def', taken[1]);
    response.write('ghi', taken[2]);
    await end(served);
    await turn();
    await turn();
    expect(taken.map(({ mock }) => mock.calls)).toEqual([[[]], [[expect.any(Error)]], [[expect.any(Error)]]]);
    expect(drained).not.toHaveBeenCalled();
    expect(closed).toHaveBeenCalledTimes(1);
    expect(response.writableFinished).toBe(false);
    const late = jest.fn();
    response.write('more', late);
    expect(late.mock.calls).toEqual([[expect.any(Error)]]);
  });
});

describe('a client that asks and does not read', () => {
  it('has its answers wait outside the socket', async () => {
    const served = await wide();
    await served.wire.send(ask(1), ask(3));
    const release = served.wire.hold();
    for (const { response } of served.streams) response.end(Buffer.alloc(900_000));
    await turn();
    expect(served.wire.writableLength).toBeLessThan(400_000);
    release();
    let received = 0;
    while (received < 1_800_000) {
      for (const { type, payload } of await served.wire.frames())
        if (type === FrameType.DATA) received += payload.length;
    }
    expect(received).toBe(1_800_000);
    expect(served.streams.map(({ response }) => response.writableFinished)).toEqual([true, true]);
  });

  it('is not listened to when it has only asked for pongs', async () => {
    const served = await greeted();
    served.wire.hold();
    const pings = Buffer.concat(Array.from({ length: 10_000 }, () => frame(FrameType.PING, 0, 0, Buffer.alloc(8))));
    for (let sent = 0; sent < 20; sent++) await served.wire.send(pings);
    expect(served.wire.isPaused()).toBe(true);
    expect(served.wire.writableLength).toBeLessThan(1_600_000);
    served.connection.destroy();
  });
});

describe('whatever a client and an answer do', () => {
  const step = fc.oneof(
    fc.record({ write: fc.integer({ min: 0, max: 40 }) }),
    fc.record({ grow: fc.integer({ min: 1, max: 30 }), of: fc.constantFrom(0, 1) }),
    fc.record({ window: fc.integer({ min: 0, max: 40 }) }),
    fc.constantFrom('turn', 'hold', 'release'),
  );
  const end = fc.constantFrom('end', 'destroy', 'reset', 'lost');

  it('each write is taken once, the windows are kept, and no byte is lost or changes its place', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), end, async (steps, last) => {
        const served = await greeted(firstWindow(10));
        const { response } = await asked(served, post(1));
        const taken: number[] = [];
        const frames: Buffer[] = [];
        const read = async (): Promise<void> => {
          for (const { type, payload } of await served.wire.frames()) if (type === FrameType.DATA) frames.push(payload);
        };
        let written = '';
        let allowed = 10;
        let first = 10;
        let release: (() => void) | undefined;
        const letGo = (): void => {
          release?.();
          release = undefined;
        };
        for (const one of steps) {
          if (one === 'hold') release ??= served.wire.hold();
          else if (one === 'release') letGo();
          else if (one === 'turn') await read();
          else if ('write' in one) {
            const text = Array.from({ length: one.write }, (_, at) => String((written.length + at) % 10)).join('');
            written += text;
            const index = taken.push(0) - 1;
            response.write(text, () => taken[index]!++);
          } else if ('grow' in one) {
            await served.wire.send(windowUpdateFrame(one.of, one.grow));
            if (one.of === 1) allowed += one.grow;
          } else {
            await served.wire.send(settingsFrame(firstWindow(one.window)));
            if (one.window > first) allowed += one.window - first;
            first = one.window;
          }
        }
        letGo();
        if (last === 'end') {
          response.end();
          await served.wire.send(windowUpdateFrame(1, 1_000_000));
          allowed = Infinity;
        } else if (last === 'destroy') response.destroy();
        else if (last === 'reset') await served.wire.send(resetFrame(1, ErrorCode.CANCEL));
        await read();
        if (last === 'lost') served.wire.destroy();
        await read();
        const sent = Buffer.concat(frames).toString();
        expect(sent).toBe(written.slice(0, sent.length));
        if (last === 'end') expect(sent).toBe(written);
        expect(sent.length).toBeLessThanOrEqual(allowed);
        expect(taken).toEqual(taken.map(() => 1));
        expect(response.writableFinished).toBe(last === 'end');
        served.connection.destroy();
      }),
      { numRuns: 300 },
    );
  });
});
