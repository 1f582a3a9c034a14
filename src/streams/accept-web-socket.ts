import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { gatherWrites } from './gathered-writes';
import { MAX_WAITING_BYTES } from './join-sockets';

/** Of one message, which is kept until it is whole. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** For a client to answer that it closes, too. */
const CLOSE_MS = 1_000;

/** Close codes (RFC 6455, 7.4.1). */
export const CLOSE_NORMAL = 1000;
export const CLOSE_GOING_AWAY = 1001;
export const CLOSE_INTERNAL_ERROR = 1011;

export interface AcceptedWebSocket {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
}

/** The subprotocols that a client offers, in its order. */
export function offeredProtocols(header: string | undefined): readonly string[] {
  return (header ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');
}

/**
 * Answers a client's handshake. Empty: no subprotocol. Undefined when the handshake is wrong: the client has been told so, and its
 * connection ends.
 * Messages come from `resume` on, so that none is lost before there is a listener.
 */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  protocol: string,
  maxMessageBytes = MAX_MESSAGE_BYTES,
): AcceptedWebSocket | undefined {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
  });
  if (protocol !== '') server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  let accepted: AcceptedWebSocket | undefined;
  server.handleUpgrade(withoutProtocols(request), socket, head, (webSocket) => {
    // What fails closes, which says enough.
    webSocket.on('error', ignore);
    webSocket.pause();
    accepted = { webSocket, socket };
  });
  return accepted;
}

/** Subprotocols are chosen here: `ws` refuses those of Kubernetes that are no tokens (`SPDY/3.1+portforward.k8s.io`). */
function withoutProtocols(request: IncomingMessage): IncomingMessage {
  const { 'sec-websocket-protocol': _, ...headers } = request.headers;
  return Object.create(request, { headers: { value: headers } }) as IncomingMessage;
}

/** Sends bytes, and holds their source back while the client has too much to read. */
export function sendHoldingBack({ webSocket, socket }: AcceptedWebSocket, bytes: Buffer, source: Socket): void {
  gatherWrites(socket);
  webSocket.send(bytes, { binary: true });
  if (socket.writableLength <= MAX_WAITING_BYTES || source.isPaused()) return;
  source.pause();
  const resume = (): void => {
    socket.off('drain', resume).off('close', resume);
    source.resume();
  };
  socket.on('drain', resume).on('close', resume);
}

/** Writes bytes, and reads no more messages while the target has too much to take. */
export function writeHoldingBack(target: Socket, bytes: Buffer, { webSocket }: AcceptedWebSocket): void {
  gatherWrites(target);
  target.write(bytes);
  if (target.writableLength <= MAX_WAITING_BYTES || webSocket.isPaused) return;
  webSocket.pause();
  const resume = (): void => {
    target.off('drain', resume).off('close', resume);
    webSocket.resume();
  };
  target.on('drain', resume).on('close', resume);
}

/** Says why, and ends the connection soon, whatever the client does. */
export function closeWebSocket({ webSocket }: AcceptedWebSocket, code: number): void {
  if (webSocket.readyState === webSocket.CLOSED) return;
  webSocket.close(code);
  // A paused one would not read the client's answer.
  webSocket.resume();
  const timer = setTimeout(() => webSocket.terminate(), CLOSE_MS);
  webSocket.once('close', () => clearTimeout(timer));
}

function ignore(): void {}
