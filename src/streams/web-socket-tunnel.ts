import type { Socket } from 'node:net';
import { closeWebSocket, CLOSE_GOING_AWAY, CLOSE_NORMAL, type AcceptedWebSocket } from './accept-web-socket';
import { Backpressure } from './backpressure';
import { gatherWrites } from './gathered-writes';
import { endBackend } from './last-bytes';

/** Passes a backend's bytes on in binary messages, and those of messages to it. Returns what ends both. */
export function tunnel(client: AcceptedWebSocket, backend: Socket, head: Buffer): () => void {
  const { webSocket, socket, memory } = client;
  const toClient = new Backpressure(backend, socket, memory);
  const toBackend = new Backpressure(webSocket, backend, memory);
  backend.on('error', ignore);
  backend.on('data', (chunk: Buffer) => {
    if (webSocket.readyState !== webSocket.OPEN) return;
    gatherWrites(socket);
    webSocket.send(chunk, { binary: true });
    toClient.wrote(chunk.length);
  });
  backend.on('close', () => closeWebSocket(client, CLOSE_NORMAL));
  webSocket.on('message', (message: Buffer) => {
    if (backend.destroyed || message.length === 0) return;
    gatherWrites(backend);
    backend.write(message);
    toBackend.wrote(message.length);
  });
  webSocket.on('close', () => endBackend(backend));
  webSocket.resume();
  if (head.length > 0) webSocket.send(head, { binary: true });
  return () => {
    backend.destroy();
    closeWebSocket(client, CLOSE_GOING_AWAY);
  };
}

function ignore(): void {}
