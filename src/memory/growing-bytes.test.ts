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
