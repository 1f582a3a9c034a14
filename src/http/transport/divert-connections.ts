import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';

/**
 * Shows a server's connections to `receive` before Node's own listeners, which get one by `pass()`. Node has no other way to stand
 * between a server and its connections; that its listeners can be moved like this is no promise of Node's, and is tested.
 */
export function divertConnections<S extends Socket>(
  server: TlsServer,
  event: 'connection' | 'secureConnection',
  receive: (socket: S, pass: () => void) => void,
): void {
  const listeners = server.listeners(event) as ((socket: S) => void)[];
  server.removeAllListeners(event);
  server.on(event, (socket: S) =>
    receive(socket, () => {
      for (const listener of listeners) listener.call(server, socket);
    }),
  );
}
