/** What pieces or parts have together. */
export function lengthOf(pieces: readonly { readonly length: number }[]): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}

/** Copies the pieces one after the other to the beginning of memory that has room for them. */
export function copyPieces(pieces: readonly Uint8Array[], into: Buffer): void {
  let used = 0;
  for (const piece of pieces) {
    into.set(piece, used);
    used += piece.length;
  }
}

/** The pieces as one, in memory of its own: a part of a larger Buffer would keep the rest of it alive. */
export function joinPieces(pieces: readonly Uint8Array[]): Buffer {
  const joined = Buffer.allocUnsafeSlow(lengthOf(pieces));
  copyPieces(pieces, joined);
  return joined;
}

/** The pieces in parts of at most so many bytes, none of which is copied. */
export function* cutPieces(pieces: readonly Buffer[], most: number): Iterable<Buffer> {
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += most) yield piece.subarray(from, from + most);
  }
}
