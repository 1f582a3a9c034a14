import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionUpgrade, HttpRequest } from './exchange';
import { endAndLinger } from './linger';
import { responseOn } from './node-http-internals';
import { parseRequestInfo } from '../request/request-info';

export interface UpgradesOptions {
  /** Whether the connection of this request may be taken over. All others are requests like any other. */
  readonly isUpgrade: (request: IncomingMessage) => boolean;
  readonly onRequest: (request: IncomingMessage & HttpRequest, response: ServerResponse) => void;
  /** Says that the connection speaks HTTP again. */
  readonly giveBack: (socket: Socket) => void;
  /** The connection has left node:http, which has taken its parser back. */
  readonly onLeft: (socket: Socket) => void;
}

/** Of a taken connection. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Requests over HTTP/1.1 that want to use their connection for another protocol. node:http takes the connection out of its hands
 * with each of them; here they get a response, so that they go through the same filters and may be refused like any other.
 */
export class Upgrades {
  readonly #sockets = new Set<Socket>();

  constructor(private readonly options: UpgradesOptions) {}

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, stream, head: Buffer) => {
      stream.on('error', ignore);
      this.#accept(request, stream as Socket, head);
    });
  }

  /** Takes a request that came over another server; false: it is none that may take its connection. */
  accept(request: IncomingMessage, socket: Socket, head: Buffer): boolean {
    if (!this.options.isUpgrade(request)) return false;
    socket.on('error', ignore);
    this.#accept(Object.assign(request, { hidesCertificate: true }), socket, head);
    return true;
  }

  /** Ends all connections that were taken, and those of requests under way. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.options.onLeft(socket);
    if (!this.options.isUpgrade(request)) {
      const again = Buffer.concat([headWithoutUpgrade(request), head]);
      whenAnswered(socket, () => {
        socket.off('error', ignore);
        socket.unshift(again);
        this.options.giveBack(socket);
      });
      return;
    }
    this.#track(socket);
    whenAnswered(socket, () => this.#begin(request, socket, head));
  }

  /** By itself: a listener keeps all that the others of its function know, such as the bytes that came with the request. */
  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #begin(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    socket.on('drain', drainResponse).on('end', endItself);
    response.once('finish', endConnection);
    this.options.onRequest(
      Object.assign(request, { connectionUpgrade: new TakeableConnection(request, response, socket, head) }),
      response,
    );
  }
}

const NOTHING = Buffer.alloc(0);
const NO_HEADERS: readonly string[] = [];
const NO_FIELDS = {};

/** Nothing of the request stays with its stream that is not needed: there may be thousands of streams. */
class TakeableConnection implements ConnectionUpgrade {
  isTaken = false;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly socket: Socket,
    private head: Buffer,
  ) {}

  take(): { readonly socket: Socket; readonly head: Buffer } {
    if (this.isTaken) throw new Error('the connection was taken before');
    this.isTaken = true;
    const { request, response, socket, head } = this;
    this.head = NOTHING;
    // The response stays with the connection: it closes with it, and the request is over then.
    response.off('finish', endConnection);
    socket.off('drain', drainResponse).off('end', endItself);
    // All that read these have done so: there are the headers.
    Object.assign(request, { rawHeaders: NO_HEADERS, headersDistinct: NO_FIELDS });
    request.headers.authorization = undefined;
    // It may be silent for hours, and is to end when its client has vanished.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    return { socket, head };
  }
}

function drainResponse(this: Socket): void {
  responseOn(this)?.emit('drain');
}

/** A client that leaves while it waits. */
function endItself(this: Socket): void {
  this.destroy();
}

function endConnection(this: ServerResponse): void {
  const { socket } = this;
  if (socket === null) return;
  socket.off('drain', drainResponse);
  this.detachSocket(socket);
  endAndLinger(socket, '');
  // Without its connection node:http does not say so.
  process.nextTick(() => this.emit('close'));
}

const STREAMS: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy']);

/** Whether the request is about something that may need a connection for itself. */
export function mayUpgrade({ method = '', url = '', headers }: IncomingMessage): boolean {
  try {
    const { isResourceRequest, verb, subresource } = parseRequestInfo(method, url);
    if (!isResourceRequest) return false;
    return STREAMS.has(subresource) || (verb === 'watch' && headers.upgrade?.toLowerCase() === 'websocket');
  } catch {
    return false;
  }
}

/** Runs when the responses to earlier requests of the connection are written. */
function whenAnswered(socket: Socket, then: () => void): void {
  const earlier = responseOn(socket);
  if (earlier === undefined) then();
  else earlier.once('finish', () => whenAnswered(socket, then));
}

/** The request as it would be without asking for another protocol. */
function headWithoutUpgrade({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    const value = rawHeaders[index + 1]!;
    switch (name.toLowerCase()) {
      case 'upgrade':
        break;
      case 'connection':
        lines.push(`${name}: ${withoutUpgrade(value)}`);
        break;
      default:
        lines.push(`${name}: ${value}`);
    }
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withoutUpgrade(connection: string): string {
  const kept = connection.split(',').filter((token) => token.trim().toLowerCase() !== 'upgrade');
  return kept.length === 0 ? 'keep-alive' : kept.join(',');
}

function ignore(): void {}
