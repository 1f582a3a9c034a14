import type { Socket } from 'node:net';

/**
 * For a client to read what was sent to it before the end of its stream, as kube-apiserver has it: a slow reader may have megabytes of
 * it on the way, and would lose them if the connection were closed on it.
 */
export const LAST_BYTES_MS = 15 * 60_000;
/** For a backend, whose client is gone. */
const ABANDONED_MS = 10_000;

/** Sends what is left to be sent, and goes on until the client has closed, too. */
export function endClient(socket: Socket): void {
  if (socket.destroyed) return;
  destroyAfter(socket, LAST_BYTES_MS);
  // A connection that is closed with input unread is reset.
  socket.resume();
  socket.end();
}

/** Sends what is left to be sent, for a moment, and closes: what runs behind it is to learn that its client is gone. */
export function endBackend(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.writableLength > 0) destroyAfter(socket, ABANDONED_MS);
  socket.resume();
  socket.destroySoon();
}

function destroyAfter(socket: Socket, timeoutMs: number): void {
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  socket.once('close', () => clearTimeout(timer));
}
