import { constants, crc32, deflateRawSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { crc32Shift } from './crc32-append';
import { GzipFile, storedPart, type DeflatedPart } from './gzip-file';

function deflated(bytes: Uint8Array): DeflatedPart {
  return {
    bytes: deflateRawSync(bytes, { level: 1, finishFlush: constants.Z_SYNC_FLUSH }),
    length: bytes.length,
    crc: crc32(bytes),
    shift: crc32Shift(bytes.length),
  };
}

function fileOf(parts: readonly DeflatedPart[]): Buffer {
  const file = new GzipFile();
  return Buffer.concat([file.head(), ...parts.map((part) => file.part(part)), file.tail()]);
}

describe('GzipFile', () => {
  it('holds its parts one after the other, stored or compressed, and parts may stand in several files', () => {
    const pieces = fc.array(fc.record({ bytes: fc.uint8Array({ maxLength: 2000 }), stored: fc.boolean() }));
    fc.assert(
      fc.property(pieces, (made) => {
        const parts = made.map(({ bytes, stored }) => (stored ? storedPart(bytes) : deflated(bytes)));
        const plain = made.map(({ bytes }) => bytes);
        // gunzip checks the CRC and the length.
        expect(gunzipSync(fileOf(parts)).equals(Buffer.concat(plain))).toBe(true);
        expect(gunzipSync(fileOf(parts.toReversed())).equals(Buffer.concat(plain.toReversed()))).toBe(true);
      }),
    );
  });

  it.each([0, 1, 65_535, 65_536, 200_000])('stores %i bytes as they are', (length) => {
    const bytes = Buffer.alloc(length, 'stored');
    expect(gunzipSync(fileOf([storedPart(bytes)])).equals(bytes)).toBe(true);
  });

  it('counts what it holds before compression', () => {
    const file = new GzipFile();
    file.part(deflated(Buffer.alloc(1000)));
    file.part(storedPart(Buffer.alloc(5)));
    expect(file.length).toBe(1005);
  });
});
