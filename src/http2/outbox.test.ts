import fc from 'fast-check';
import { FrameType, frameHeader } from './frames';
import { Outbox } from './outbox';

describe('an outbox', () => {
  it('gives out what was added, which stays until it may be used again', () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 200_000 }) }),
      fc.constant('take' as const),
      fc.constant('reuse' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const outbox = new Outbox();
        let added: Uint8Array[] = [];
        let taken: { readonly bytes: Buffer; readonly expected: Buffer }[] = [];
        for (const one of [...steps, 'take' as const]) {
          if (one === 'take') {
            taken.push({ bytes: outbox.take(), expected: Buffer.concat(added) });
            added = [];
          } else if (one === 'reuse') {
            outbox.reuse();
            if (added.length === 0) taken = [];
          } else {
            const bytes = Buffer.alloc(one.add, one.add % 251);
            outbox.add(bytes);
            added.push(bytes);
          }
          expect(outbox.isEmpty).toBe(added.length === 0);
          expect(taken.every(({ bytes, expected }) => bytes.equals(expected))).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('uses the same memory again', () => {
    const outbox = new Outbox();
    const memory = new Set<ArrayBufferLike>();
    for (let turn = 0; turn < 100; turn++) {
      outbox.reuse();
      outbox.addFrameHeader(3_000, FrameType.DATA, 0, turn);
      outbox.add(Buffer.alloc(3_000, turn));
      const taken = outbox.take();
      expect(taken.subarray(0, 9)).toEqual(frameHeader(3_000, FrameType.DATA, 0, turn));
      expect(new Set(taken.subarray(9))).toEqual(new Set([turn]));
      memory.add(taken.buffer);
    }
    expect(memory.size).toBe(1);
  });

  it('does not keep memory that one turn needed', () => {
    const outbox = new Outbox();
    outbox.add(Buffer.alloc(3 * 1024 * 1024));
    outbox.take();
    outbox.reuse();
    outbox.add(Buffer.alloc(1));
    expect(outbox.take().buffer.byteLength).toBeLessThan(1024 * 1024);
  });
});
