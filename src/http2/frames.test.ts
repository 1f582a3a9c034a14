import fc from 'fast-check';
import { contentOf, Flag, frameHeader, FrameReader, FrameType, MAX_FRAME_BYTES } from './frames';
import { Http2Error } from './http2-error';

describe('frames', () => {
  it('come out of a stream as they went in, however it is cut', () => {
    const frame = fc.record({
      type: fc.integer({ min: 0, max: 255 }),
      flags: fc.integer({ min: 0, max: 255 }),
      streamId: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      payload: fc.uint8Array({ maxLength: 40 }),
    });
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), cuts, (sent, lengths) => {
        const stream = Buffer.concat(
          sent.flatMap(({ type, flags, streamId, payload }) => [
            frameHeader(payload.length, type, flags, streamId),
            payload,
          ]),
        );
        const reader = new FrameReader();
        const received: typeof sent = [];
        for (let from = 0, cut = 0; from < stream.length; cut++) {
          const to = from + lengths[cut % lengths.length]!;
          reader.push(stream.subarray(from, to), (type, flags, streamId, payload) =>
            received.push({ type, flags, streamId, payload: Uint8Array.from(payload) }),
          );
          from = to;
        }
        expect(received).toEqual(sent);
      }),
    );
  });

  it('are refused when they are larger than agreed, before they have come', () => {
    const header = frameHeader(MAX_FRAME_BYTES + 1, FrameType.DATA, 0, 1);
    expect(() => new FrameReader().push(header, () => undefined)).toThrow(Http2Error);
    const reader = new FrameReader();
    reader.push(header.subarray(0, 4), () => undefined);
    expect(() => reader.push(header.subarray(4), () => undefined)).toThrow(Http2Error);
  });

  it('hold memory for what has come of them, not for what they announce', () => {
    const largest = 256 * 1024;
    const reader = new FrameReader(largest);
    const whole = jest.fn();
    reader.push(frameHeader(largest, FrameType.DATA, 0, 1), whole);
    expect(reader.heldBytes).toBeLessThanOrEqual(1_024);
    const piece = Buffer.alloc(1_000);
    let copies = 0;
    for (let come = 0; come < largest; come += piece.length) {
      const before = reader.heldBytes;
      reader.push(piece.subarray(0, largest - come), whole);
      expect(reader.heldBytes).toBeLessThanOrEqual(Math.max(1_024, 2 * (come + 9 + piece.length)));
      if (reader.heldBytes > before) copies++;
    }
    expect(whole.mock.calls).toEqual([[FrameType.DATA, 0, 1, Buffer.alloc(largest)]]);
    expect(reader).toMatchObject({ heldBytes: 0, isWithinFrame: false, frames: 1 });
    expect(copies).toBeLessThan(10);
  });

  it('are read without their padding and priority', () => {
    const padded = Buffer.from([2, 0, 0, 0, 0, 0, 7, 8, 0, 0]);
    expect([...contentOf(FrameType.HEADERS, Flag.PADDED | Flag.PRIORITY, padded)]).toEqual([7, 8]);
    // The flag means nothing on DATA.
    expect([...contentOf(FrameType.DATA, Flag.PADDED | Flag.PRIORITY, padded)]).toEqual([0, 0, 0, 0, 0, 7, 8]);
    expect([...contentOf(FrameType.DATA, 0, padded)]).toEqual([...padded]);
    expect(contentOf(FrameType.DATA, Flag.PADDED, Buffer.from([2, 0, 0])).length).toBe(0);
  });

  it.each([
    ['more padding than there is', FrameType.DATA, Flag.PADDED, [3, 0, 0]],
    ['padding of no length', FrameType.DATA, Flag.PADDED, []],
    ['half a priority', FrameType.HEADERS, Flag.PRIORITY, [0, 0]],
  ])('with %s are refused', (_, type, flags, payload) => {
    expect(() => contentOf(type, flags, Buffer.from(payload))).toThrow(Http2Error);
  });
});
