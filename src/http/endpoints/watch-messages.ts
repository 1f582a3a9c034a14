import type { IncomingMessage } from 'node:http';
import type { WatchItem } from '../../registry/types';
import {
  acceptWebSocket,
  closeWebSocket,
  CLOSE_GOING_AWAY,
  CLOSE_NORMAL,
  offeredProtocols,
  type AcceptedWebSocket,
} from '../../streams/accept-web-socket';
import { isTokenProtocol } from '../filters/credentials';
import type { RequestContext } from '../request/context';
import type { WatchEncoder } from '../response/watch-encoder';
import type { ConnectionUpgrade } from '../transport/exchange';

/** A client that watches has nothing to say. */
const MAX_MESSAGE_BYTES = 4 * 1024;
/** Watch frames of Protobuf say how long they are; a message does so itself. */
const LENGTH_BYTES = 4;

/** The client wants each event as a message of a WebSocket. */
export function webSocketOf({ request }: RequestContext): ConnectionUpgrade | undefined {
  return request.headers.upgrade?.toLowerCase() === 'websocket' ? request.connectionUpgrade : undefined;
}

/** A page says where it comes from. kube-apiserver takes any origin, but wants one; it is for the token to say who asks. */
export function hasOrigin({ request }: RequestContext): boolean {
  const { origin } = request.headers;
  return origin !== undefined && URL.canParse(origin);
}

/** Undefined when the handshake is wrong: the client has been told so. */
export function openWebSocket(context: RequestContext, upgrade: ConnectionUpgrade): AcceptedWebSocket | undefined {
  const { request } = context;
  const offered = offeredProtocols(request.headers['sec-websocket-protocol']);
  // Without another one, who asks was proven otherwise; a client that gets none of those it offers gives up.
  const protocol = offered.find((one) => !isTokenProtocol(one)) ?? offered[0] ?? '';
  context.statusCode = 101;
  const { socket, head } = upgrade.take();
  // Over HTTP/1.1, the only one with upgrades, it is one.
  const message = request as unknown as IncomingMessage;
  const accepted = acceptWebSocket(message, socket, head, protocol, context.memory, MAX_MESSAGE_BYTES);
  // What it says is of no interest, but that it is there, and that it closes.
  accepted?.webSocket.resume();
  return accepted;
}

/** Returns how many bytes that was. */
export function sendMessages(
  { webSocket }: AcceptedWebSocket,
  items: readonly WatchItem[],
  encoder: WatchEncoder,
): number {
  let sent = 0;
  for (const item of items) {
    if (webSocket.readyState !== webSocket.OPEN) break;
    sent += send(
      webSocket,
      encoder,
      item.type === 'BOOKMARK' ? encoder.bookmark(item) : encoder.event(item.type, item.entry),
    );
  }
  return sent;
}

function send(
  webSocket: AcceptedWebSocket['webSocket'],
  { contentType }: WatchEncoder,
  pieces: readonly Uint8Array[],
): number {
  const isText = contentType === 'application/json';
  const bytes =
    pieces.length === 1
      ? Buffer.from(pieces[0]!.buffer, pieces[0]!.byteOffset, pieces[0]!.length)
      : Buffer.concat(pieces);
  const message = isText ? bytes : bytes.subarray(LENGTH_BYTES);
  webSocket.send(message, { binary: !isText });
  return message.length;
}

/** With what it cannot go on from, if there is such a thing. */
export function endMessages(
  accepted: AcceptedWebSocket,
  encoder: WatchEncoder,
  { last, isGoingDown }: { readonly last?: readonly Uint8Array[]; readonly isGoingDown: boolean },
): void {
  const { webSocket } = accepted;
  if (last !== undefined && webSocket.readyState === webSocket.OPEN) send(webSocket, encoder, last);
  closeWebSocket(accepted, isGoingDown ? CLOSE_GOING_AWAY : CLOSE_NORMAL);
}
