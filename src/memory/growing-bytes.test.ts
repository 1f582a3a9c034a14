import fc from 'fast-check';
import { GrowingBytes } from './growing-bytes';

describe('growing bytes', () => {
  it('are all that was pushed since they were taken', () => {
    const step = fc.oneof(fc.uint8Array({ maxLength: 50 }), fc.constant('take' as const));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const bytes = new GrowingBytes();
        let expected = Buffer.alloc(0);
        for (const one of [...steps, 'take' as const]) {
          if (one === 'take') {
            expect(bytes.take()).toEqual(expected);
            expected = Buffer.alloc(0);
          } else {
            bytes.push(Buffer.from(one));
            expected = Buffer.concat([expected, one]);
          }
          expect(bytes.length).toBe(expected.length);
        }
      }),
    );
  });

  it('leave the pieces as they were', () => {
    const whole = Buffer.from('abcdef');
    const bytes = new GrowingBytes();
    bytes.push(whole.subarray(0, 2));
    bytes.push(Buffer.from('xy'));
    expect(bytes.take().toString()).toBe('abxy');
    expect(whole.toString()).toBe('abcdef');
  });
});

describe('many bytes', () => {
  it('are what was pushed, whatever others had been given up or taken before', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 200_000 }) },
      fc.constantFrom('take' as const, 'drop' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(255), (steps, seed) => {
        const all = [new GrowingBytes(), new GrowingBytes(1_000_000)] as const;
        const expected: [Buffer[], Buffer[]] = [[], []];
        let next = seed;
        for (const one of [...steps, 'take' as const, 'take' as const]) {
          const which = next++ % 2 === 0 ? 0 : 1;
          if (typeof one === 'number') {
            const piece = Buffer.alloc(one, next);
            all[which].push(piece);
            expected[which].push(piece);
            continue;
          }
          if (one === 'drop') all[which].drop();
          else expect(all[which].take().equals(Buffer.concat(expected[which]))).toBe(true);
          expected[which] = [];
          expect(all[which]).toHaveLength(0);
        }
      }),
    );
  });

  it('leave their memory to others when nobody wants them any more', () => {
    const piece = Buffer.alloc(16 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let round = 0; round < 20; round++) {
      const bytes = new GrowingBytes();
      for (let count = 0; count < 128; count++) bytes.push(piece);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      bytes.drop();
    }
    expect(most).toBeLessThan(2 * 128 * piece.length + 20 * 128 * 1024);
  });
});

describe('bytes of which it is known how many will come', () => {
  it('take no more memory than these', () => {
    const bytes = new GrowingBytes(1000);
    for (let count = 0; count < 4; count++) bytes.push(Buffer.alloc(250, count));
    const all = bytes.take();
    expect(all).toHaveLength(1000);
    expect(all.buffer.byteLength).toBe(1000);
  });

  it('may be more than was said', () => {
    const bytes = new GrowingBytes(3);
    for (const piece of ['ab', 'cd', 'ef']) bytes.push(Buffer.from(piece));
    expect(bytes.take().toString()).toBe('abcdef');
  });
});

it('a small first piece does not keep the memory alive that it is part of', () => {
  const bytes = new GrowingBytes();
  const received = Buffer.allocUnsafeSlow(64 * 1024);
  bytes.push(received.subarray(0, 10));
  expect(bytes.take().buffer).not.toBe(received.buffer);
});
