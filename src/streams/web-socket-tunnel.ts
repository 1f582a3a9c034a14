import type { Socket } from 'node:net';
import {
  closeWebSocket,
  CLOSE_GOING_AWAY,
  CLOSE_NORMAL,
  sendHoldingBack,
  writeHoldingBack,
  type AcceptedWebSocket,
} from './accept-web-socket';

/** Passes a backend's bytes on in binary messages, and those of messages to it. Returns what ends both. */
export function tunnel(client: AcceptedWebSocket, backend: Socket, head: Buffer): () => void {
  const { webSocket } = client;
  backend.on('error', ignore);
  backend.on('data', (chunk: Buffer) => {
    if (webSocket.readyState === webSocket.OPEN) sendHoldingBack(client, chunk, backend);
  });
  backend.on('close', () => closeWebSocket(client, CLOSE_NORMAL));
  webSocket.on('message', (message: Buffer) => {
    if (!backend.destroyed && message.length > 0) writeHoldingBack(backend, message, client);
  });
  webSocket.on('close', () => {
    backend.destroySoon();
    backend.resume();
  });
  webSocket.resume();
  if (head.length > 0) webSocket.send(head, { binary: true });
  return () => {
    backend.destroy();
    closeWebSocket(client, CLOSE_GOING_AWAY);
  };
}

function ignore(): void {}
