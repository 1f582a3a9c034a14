import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { crc32Append, crc32Shift } from './crc32-append';

const part = (bytes: Uint8Array) => ({ crc: crc32(bytes), shift: crc32Shift(bytes.length) });

describe('crc32Append', () => {
  it('gives the CRC of the bytes one after the other', () =>
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (pieces) => {
        expect(pieces.reduce((crc, piece) => crc32Append(crc, part(piece)), 0)).toBe(crc32(Buffer.concat(pieces)));
      }),
    ));

  it('does not mind how bytes are cut', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), fc.nat(5000), (bytes, at) => {
        const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
        expect(crc32Append(crc32(before), part(after))).toBe(crc32(bytes));
      }),
    ));

  it.each([0, 1, 255, 65_535, 65_536, 3_000_001])('appends %i bytes', (length) => {
    const after = Buffer.alloc(length, 'after');
    expect(crc32Append(crc32('before'), part(after))).toBe(crc32(Buffer.concat([Buffer.from('before'), after])));
  });

  it('appends more bytes than 32 bits count', () => {
    // x has order 2^32 - 1 in this field, so that x^(8 * (2^32 - 1)) is 1: what length 0 gives.
    expect(crc32Shift(2 ** 32 - 1)).toBe(crc32Shift(0));
    expect(crc32Shift(2 ** 32)).toBe(crc32Shift(1));
  });
});
