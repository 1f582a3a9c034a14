import type { Readable } from 'node:stream';
import { GrowingBytes } from '../memory/growing-bytes';

/**
 * Joins the pieces that come while a source is paused: what a connection has sent ahead may be tens of thousands of single bytes, each
 * of which takes hundreds as a Buffer of its own. Costs next to nothing while the source flows. Does nothing where it has been called before,
 * nor for the connection of a client, whose pieces are kept, and stand in the books, before they come to its stream (paced-reading.ts).
 *
 * @param onUnread is told how many bytes have come while it was paused.
 */
export function joinUnreadPieces(source: Readable, onUnread: (bytes: number) => void): void {
  if (Object.hasOwn(source, 'push')) return;
  const push = source.push.bind(source);
  const unread = new GrowingBytes();

  const flush = (): void => {
    if (unread.length > 0) push(unread.take());
  };

  source.push = (piece: Buffer | null, encoding) => {
    if (piece === null || source.readableFlowing !== false) {
      flush();
      return push(piece, encoding);
    }
    onUnread(piece.length);
    unread.push(piece);
    return source.readableLength + unread.length < source.readableHighWaterMark;
  };
  // Before what has come is read.
  source.on('resume', flush).on('close', () => unread.drop());
}
