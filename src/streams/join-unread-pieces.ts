import type { Readable } from 'node:stream';

/** Larger pieces take hardly more memory than their bytes. */
const SMALL_BYTES = 2 * 1024;
/** Into which small ones are copied. */
const BLOCK_BYTES = 16 * 1024;

/**
 * Joins small pieces that come while a source is paused: what a connection has sent ahead may be tens of thousands of single bytes, each
 * of which takes hundreds as a Buffer of its own. Once for each source; it costs nothing while the source flows.
 *
 * @param onUnread is told how many bytes have come while it was paused.
 */
export function joinUnreadPieces(source: Readable, onUnread: (bytes: number) => void): void {
  const push = source.push.bind(source);
  let block: Buffer | undefined;
  let filled = 0;

  const flush = (): void => {
    if (block === undefined) return;
    const piece = block.subarray(0, filled);
    block = undefined;
    filled = 0;
    push(piece);
  };

  source.push = (piece: Buffer | null, encoding) => {
    if (piece === null || source.readableFlowing !== false) {
      flush();
      return push(piece, encoding);
    }
    onUnread(piece.length);
    if (piece.length >= SMALL_BYTES) {
      flush();
      return push(piece, encoding);
    }
    if (filled + piece.length > BLOCK_BYTES) flush();
    block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    piece.copy(block, filled);
    filled += piece.length;
    return source.readableLength + filled < source.readableHighWaterMark;
  };
  // Before what has come is read.
  source.on('resume', flush);
}
