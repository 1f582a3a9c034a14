import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import type { MemoryHolder } from '../memory/memory-budget';
import { LAST_BYTES_MS } from './last-bytes';
import { holdUnreadMessages } from './unread-messages';

/** Of one message, which is kept until it is whole. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Of one message. Clients that send in pieces do so by their write buffer, of 4 kB and more. */
const MAX_FRAGMENTS = 4 * 1024;
/** Read and not yet a whole frame: no client has less in each packet. */
const MAX_CHUNKS = 16 * 1024;
const OPTIONS = {
  noServer: true,
  clientTracking: false,
  maxFragments: MAX_FRAGMENTS,
  maxBufferedChunks: MAX_CHUNKS,
  perMessageDeflate: false,
  // Not in its types.
  closeTimeout: LAST_BYTES_MS,
};

/** For a client to close, too, when the server goes down. */
const GOING_AWAY_MS = 1_000;

/** Close codes (RFC 6455, 7.4.1). */
export const CLOSE_NORMAL = 1000;
export const CLOSE_GOING_AWAY = 1001;
export const CLOSE_INTERNAL_ERROR = 1011;

export interface AcceptedWebSocket {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  /** Of the connection. What has come of a message that is not whole stands there already. */
  readonly memory: MemoryHolder;
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
  memory: MemoryHolder,
  maxMessageBytes = MAX_MESSAGE_BYTES,
): AcceptedWebSocket | undefined {
  const server = new WebSocketServer({ ...OPTIONS, maxPayload: maxMessageBytes });
  if (protocol !== '') server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  let accepted: AcceptedWebSocket | undefined;
  server.handleUpgrade(withoutProtocols(request), socket, head, (webSocket) => {
    // What fails closes, which says enough.
    webSocket.on('error', ignore);
    webSocket.pause();
    holdUnreadMessages(webSocket, socket, memory);
    accepted = { webSocket, socket, memory };
  });
  return accepted;
}

/**
 * What `ws` looks at, without the subprotocols: they are chosen here, and it refuses those of Kubernetes that are no tokens
 * (`SPDY/3.1+portforward.k8s.io`). As an object of its own: one that had the request for its prototype would have V8 keep a description of each.
 */
function withoutProtocols({
  method,
  headers: { 'sec-websocket-protocol': _, ...headers },
}: IncomingMessage): IncomingMessage {
  return { method, headers } as IncomingMessage;
}

/** Says why. The connection ends when the client has read that and closes, too, and soon where the server goes down. */
export function closeWebSocket({ webSocket }: AcceptedWebSocket, code: number): void {
  if (webSocket.readyState === webSocket.CLOSED) return;
  webSocket.close(code);
  // A paused one would not read the client's response.
  webSocket.resume();
  if (code !== CLOSE_GOING_AWAY) return;
  const timer = setTimeout(() => webSocket.terminate(), GOING_AWAY_MS);
  webSocket.once('close', () => clearTimeout(timer));
}

function ignore(): void {}
