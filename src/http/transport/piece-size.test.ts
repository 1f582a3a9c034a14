import { PieceSize } from './piece-size';

/** The sizes of pieces that took so long one after another. */
function sizes(piece: PieceSize, tookMs: readonly number[]): number[] {
  return tookMs.map((took) => {
    piece.learn(piece.bytes, took);
    return piece.bytes;
  });
}

describe('a piece of what a connection brings', () => {
  it('is small at first, and grows as long as it costs little', () => {
    const piece = new PieceSize();
    expect([piece.bytes, ...sizes(piece, [0, 0, 0, 0])]).toEqual([512, 1_024, 2_048, 4_096, 4_096]);
  });

  it('grows further when the client has proved who it is', () => {
    const piece = new PieceSize();
    piece.trust();
    expect(sizes(piece, [0, 0, 0, 0, 0, 0])).toEqual([1_024, 2_048, 4_096, 8_192, 16_384, 16_384]);
  });

  it('shrinks when it costs much, to less than what was there', () => {
    const piece = new PieceSize();
    sizes(piece, [0, 0, 0]);
    expect(sizes(piece, [1, 3])).toEqual([4_096, 2_048]);
    piece.learn(800, 3);
    expect(piece.bytes).toBe(400);
    expect(sizes(piece, [3, 3])).toEqual([256, 256]);
  });
});
