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
