import type { Socket } from 'node:net';

/** Enough for an answer to arrive and for what was sent meanwhile. */
const LINGER_MS = 1_000;

/**
 * Ends a connection with its last bytes. Goes on reading for a moment: a connection that is closed with input unread is
 * reset, and its client may lose the answer. Then it is closed, whatever the client does.
 */
export function endAndLinger(socket: Socket, lastBytes: string | Buffer): void {
  socket.end(lastBytes);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.on('close', () => clearTimeout(timer));
}
