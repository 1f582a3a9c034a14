import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { MemoryHolder } from '../memory/memory-budget';

/** Of a control frame besides its payload: two bytes, and the mask of a client. */
const CONTROL_HEAD_BYTES = 6;

/**
 * Has the bytes of messages that have begun and are not whole stand in the books: `ws` keeps them until their end comes. What comes
 * whole in one read is in no book, which is what streams usually bring.
 */
export function holdUnreadMessages(webSocket: WebSocket, socket: Socket, memory: MemoryHolder): void {
  let unread = 0;
  let held = 0;

  const read = (chunk: Buffer): void => {
    unread += chunk.length;
  };
  /** Stands between the pieces of a message, and is over. */
  const control = (payload: Buffer): void => {
    unread = Math.max(0, unread - payload.length - CONTROL_HEAD_BYTES);
  };
  const settle = (): void => {
    if (unread > held) memory.hold(unread - held);
    else if (unread < held) memory.release(held - unread);
    held = unread;
  };
  const message = (): void => {
    unread = 0;
  };

  // Before `ws` reads it, which tells of whole messages at once, and afterwards.
  socket.prependListener('data', read);
  socket.on('data', settle);
  webSocket.on('message', message).on('ping', control).on('pong', control);
  webSocket.on('close', () => {
    socket.off('data', read).off('data', settle);
    unread = 0;
    settle();
  });
}
