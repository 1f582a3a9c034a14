import { IncomingMessage, STATUS_CODES, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { IdleConnections } from './idle-connections';
import { endAndLinger } from './linger';
import { parserOf, responseOn } from './node-http-internals';
import { trustConnection } from './paced-reading';

/** How long clients of HTTP/1.1 may take, in milliseconds. kube-apiserver's, where it has one. */
export interface Http1Limits {
  /** From the connection, or the first byte of a later request, to the end of the request's head. */
  readonly requestHeadMs: number;
  /** For the whole request: what is left of a body when its answer is given, and of those that have no deadline. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /** How late the first two are noticed. */
  readonly checkMs: number;
  /** For the next byte of a request that has begun, or has never come, while the server closes. */
  readonly lastSilenceMs: number;
}

/** The limits of a server whose requests may take so long, unless they are long-running. */
export function http1LimitsFor(requestTimeoutMs: number): Http1Limits {
  return {
    requestHeadMs: 32_000,
    requestMs: Math.max(300_000, requestTimeoutMs),
    idleMs: 90_000,
    checkMs: 5_000,
    lastSilenceMs: 5_000,
  };
}

/** Of the request line and all headers. */
export const MAX_HEADER_BYTES = 128 * 1024;
const MAX_FIELDS = 2_000;
/** Dead peers of idle connections are found by TCP. */
const TCP_KEEP_ALIVE_MS = 180_000;

class ClientMessage extends IncomingMessage {
  trustClient(): void {
    trustConnection(this.socket);
  }
}

/** Options of a server of node:http or node:https. */
export function http1Options({ requestHeadMs, requestMs, checkMs }: Http1Limits): ServerOptions {
  return {
    IncomingMessage: ClientMessage,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: requestHeadMs,
    requestTimeout: requestMs,
    // Idle connections are looked after by other means.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: checkMs,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    noDelay: true,
  };
}

/**
 * Clients that break the rules of HTTP/1.1 are answered as by Go's server, and the connection ends. `server.closeIdleConnections()`, which
 * closing the server calls, loses nothing of a response.
 */
export function watchConnections(server: Server, { idleMs, lastSilenceMs }: Http1Limits): void {
  const idle = new IdleConnections(idleMs);
  // What comes after so many is dropped without a word: one more shows that there are too many.
  server.maxHeadersCount = MAX_FIELDS + 1;
  server.on('clientError', sendClientErrorResponse);
  server.on('secureConnection', keepParsing);
  server.on(isTls(server) ? 'secureConnection' : 'connection', (socket: Socket) => idle.add(socket));
  // Behind a whole look at the sockets: a loop that is behind has not read requests yet that have come long ago.
  const endIdle = (): void => idle.endIdle(server, lastSilenceMs);
  server.closeIdleConnections = () => void setImmediate(() => setImmediate(endIdle));
}

function isTls(server: Server): boolean {
  return 'setSecureContext' in server;
}

/**
 * While much is left to be sent, node:http reads no further and pauses the parser. But one read of TLS may bring several
 * records, the second of which then meets a paused parser, and a right request fails with HPE_PAUSED. The parser goes on
 * instead: reading has stopped, so that it gets no more than what was read already
 * (docs/decisions/0009-paused-parsers.md).
 *
 * Node has no interface for that.
 */
function keepParsing(socket: Socket): void {
  const parser = parserOf(socket);
  if (parser === undefined) return;
  parser.pause = doNothing;
  const letGo = (): void => {
    delete parser.pause;
    kept.delete(socket);
    socket.off('close', letGo);
  };
  kept.set(socket, letGo);
  socket.once('close', letGo);
}

/** Connections whose parsers are kept from pausing. */
const kept = new WeakMap<Socket, () => void>();

/** The connection has given its parser back, which may serve another one from now on. */
export function leaveParser(socket: Socket): void {
  kept.get(socket)?.();
}

function doNothing(): void {}

/** Connections that end with the answer that is being written, and are not read any more. */
const broken = new WeakSet<Socket>();

/** What is no HTTP gets an answer in plain text, unless the request before it is still being answered. */
function sendClientErrorResponse(error: NodeJS.ErrnoException, socket: Socket): void {
  const status = statusOf(error);
  if (status === undefined || (!socket.writable && !socket.writableEnded)) {
    socket.destroy();
    return;
  }
  // More of the same.
  if (socket.writableEnded || broken.has(socket)) return;
  broken.add(socket);
  socket.pause();
  endWith(
    socket,
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`,
  );
}

/**
 * As soon as all responses before it are written. Then the client may have sent its next request, which is right and must not
 * be answered 400: the connection just ends.
 */
function endWith(socket: Socket, lastBytes: string): void {
  const response = responseOn(socket);
  if (response !== undefined) {
    if (!response.headersSent) response.setHeader('Connection', 'close');
    response.once('finish', () => endWith(socket, ''));
  } else if (socket.writable) {
    endAndLinger(socket, lastBytes);
  }
}

/** Undefined: no answer, so that a client whose request was right may repeat it. */
function statusOf({ code }: NodeJS.ErrnoException): string | undefined {
  switch (code) {
    case 'ECONNRESET':
    case 'ERR_HTTP_REQUEST_TIMEOUT':
    case 'HPE_PAUSED':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return '431 Request Header Fields Too Large';
    case 'HPE_INVALID_VERSION':
      return '505 HTTP Version Not Supported: unsupported protocol version';
    default:
      return '400 Bad Request';
  }
}

const HOST_NAME = 'host';
const ENCODING_NAME = 'transfer-encoding';
/** The characters of a host and its port, as Go's server takes them. */
const HOST = /^[A-Za-z0-9!$%&'()*+,\-.:;=[\]_~]*$/;

interface Refusal {
  readonly code: number;
  /** Behind the code, in the status line. */
  readonly status: string;
  readonly text: string;
}

/** Answers a request whose head node:http lets through and Go's server does not; true: it is answered. */
export function refuseHead(request: IncomingMessage, response: ServerResponse): boolean {
  const refusal = refusalOf(request);
  if (refusal === undefined) return false;
  const { code, status, text } = refusal;
  response.writeHead(code, status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
  response.end(text);
  return true;
}

const BAD_VERSION = refusing(505, ': unsupported protocol version');
const TOO_MANY_FIELDS = refusing(431, '');
const TOO_MANY_HOSTS = refusing(400, ': too many Host headers');
const BAD_HOST = refusing(400, ': malformed Host header');
const BAD_ENCODING: Refusal = { code: 501, status: 'Not Implemented', text: 'Unsupported transfer encoding' };

function refusing(code: number, reason: string): Refusal {
  const status = `${STATUS_CODES[code]}${reason}`;
  return { code, status, text: `${code} ${status}` };
}

function refusalOf({ httpVersionMajor, rawHeaders }: IncomingMessage): Refusal | undefined {
  if (httpVersionMajor !== 1) return BAD_VERSION;
  if (rawHeaders.length > 2 * MAX_FIELDS) return TOO_MANY_FIELDS;
  let hosts = 0;
  let encodings = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === HOST_NAME.length && name.toLowerCase() === HOST_NAME) {
      if (++hosts > 1) return TOO_MANY_HOSTS;
      if (!HOST.test(rawHeaders[index + 1]!)) return BAD_HOST;
    } else if (name.length === ENCODING_NAME.length && name.toLowerCase() === ENCODING_NAME) {
      // What another server on the way takes for the end of the body might be none here.
      if (++encodings > 1 || rawHeaders[index + 1]!.toLowerCase() !== 'chunked') return BAD_ENCODING;
    }
  }
  return undefined;
}
