import fc from 'fast-check';
import { mask, unmask } from './mask-bytes';

const key = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Buffer.from(bytes));
const bytes = fc.uint8Array({ maxLength: 120 });

function byteByByte(plain: Uint8Array, mask: Buffer): Buffer {
  return Buffer.from(plain.map((byte, index) => byte ^ mask[index & 3]!));
}

it('masks bytes wherever they lie in memory', () => {
  fc.assert(
    fc.property(bytes, key, fc.nat(7), (plain, mask, place) => {
      const memory = Buffer.alloc(place + plain.length + 8);
      const placed = memory.subarray(place, place + plain.length);
      placed.set(plain);
      unmask(placed, mask);
      expect(placed.equals(byteByByte(plain, mask))).toBe(true);
      const others = Buffer.concat([memory.subarray(0, place), memory.subarray(place + plain.length)]);
      expect(others.every((byte) => byte === 0)).toBe(true);
    }),
  );
});

it('masks the beginning of bytes into others', () => {
  fc.assert(
    fc.property(bytes, key, fc.nat(7), fc.nat(120), (plain, key, place, most) => {
      const length = Math.min(most, plain.length);
      const output = Buffer.alloc(place + length);
      mask(Buffer.from(plain), key, output, place, length);
      expect(output.subarray(place).equals(byteByByte(plain.subarray(0, length), key))).toBe(true);
    }),
  );
});
