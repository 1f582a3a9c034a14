import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** A backend that is not connected in time. */
export function dialTimeout(): Error {
  return Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' });
}

/** Ends a connection that is not made, handshake included, in this time. */
export function limitDial(socket: Socket, isTls: boolean, timeoutMs: number): void {
  const connected = isTls ? 'secureConnect' : 'connect';
  if (isTls ? (socket as TLSSocket).getProtocol() !== null : !socket.connecting) return;
  const timer = setTimeout(() => socket.destroy(dialTimeout()), timeoutMs);
  const settle = (): void => {
    clearTimeout(timer);
    socket.off(connected, settle).off('close', settle);
  };
  socket.on(connected, settle).on('close', settle);
}
