import type { Writable } from 'node:stream';

/**
 * What is written to the connection from now on until the end of this turn of the event loop leaves at once. TLS hands bytes over a
 * record at a time, often a few bytes and then the next record: written one by one, each would be a record and a system call again.
 */
export function gatherWrites(socket: Writable): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(uncork, socket);
}

function uncork(socket: Writable): void {
  socket.uncork();
}
