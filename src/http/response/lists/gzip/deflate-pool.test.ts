import { randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { deflatePiece } from './deflate-pool';

/** An empty block that is the last. */
const END = Buffer.from([3, 0]);

describe('deflatePiece', () => {
  it('makes pieces that can stand in any order, by themselves and again', () => {
    const words = fc.string({ minLength: 1, maxLength: 8 }).map((word) => Buffer.from(word.repeat(500)));
    return fc.assert(
      fc.asyncProperty(fc.array(words, { minLength: 1, maxLength: 12 }), async (plain) => {
        // The same words in several pieces: whatever looked back at another piece would show.
        const pieces = await Promise.all(plain.map((bytes) => deflatePiece(bytes)));
        const order = [...pieces.keys(), ...[...pieces.keys()].reverse()];
        const inflated = inflateRawSync(Buffer.concat([...order.map((index) => pieces[index]!), END]));
        expect(inflated.equals(Buffer.concat(order.map((index) => plain[index]!)))).toBe(true);
        for (const [index, piece] of pieces.entries()) {
          expect(inflateRawSync(Buffer.concat([piece, END])).equals(plain[index]!)).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });

  it.each([1, 40_000, 2_000_000])('makes a piece of %i bytes that cannot be compressed', async (length) => {
    const bytes = randomBytes(length);
    expect(inflateRawSync(Buffer.concat([await deflatePiece(bytes), END])).equals(bytes)).toBe(true);
  });

  it('takes no more memory for a piece than the piece has bytes', async () => {
    const piece = await deflatePiece(Buffer.alloc(60_000, 'words and words '));
    expect(piece.buffer.byteLength).toBe(piece.length);
  });
});
