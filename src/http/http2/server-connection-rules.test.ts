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
import { data, frame } from '../../http2/wire.fixture';
import { ask, greeted, post, PSEUDO, said, serve } from './server-connection.fixture';

const BLOCK = encodeHeaders(PSEUDO);

it('a client that breaks a rule is told once, and nothing that it still sends is looked at', async () => {
  const served = await greeted();
  served.wire.hold();
  await served.wire.send(data(0, 'x'), ask(1));
  for (let sent = 0; sent < 5; sent++) await served.wire.send(frameHeader(300_000, 0, 0, 0), ask(3));
  expect(served.streams).toEqual([]);
  served.connection.destroy();
  expect(served.told.closed).toBe(1);
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
