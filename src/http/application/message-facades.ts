import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpRequest, HttpResponse } from '../transport/exchange';
import type { MessageClasses } from './message-classes';
import { StreamSocket } from './stream-socket';

/**
 * Express and what people write for it expect node:http's objects, and change them. So they get some of their own, whichever version of
 * HTTP brought the request: an IncomingMessage that reads from the request and a ServerResponse that writes to its response.
 *
 * What this relies on besides the documented methods: of a response, `_header` (any text: the head is sent, so that `headersSent` is true
 * and headers cannot be set any more), `finished` (`end` was called), `_contentLength`, `_removedContLen` and `_hasBody`; of a request `complete`,
 * the setter of `headers` and `_readableState.readingMore`. The methods are replaced on each object and not in a class, because Express
 * changes prototypes when an application is mounted within another.
 */
export interface Facade {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What node:http keeps in its objects without telling in its types. */
interface ResponseInternals {
  _header: string | null;
  _contentLength: number | null;
  _removedContLen: boolean;
  _hasBody: boolean;
  finished: boolean;
  destroyed: boolean;
  [TARGET]: HttpResponse;
}

interface RequestInternals {
  /** While this is true nothing is read ahead: node:http takes it back with the first read. */
  readonly _readableState: { readingMore: boolean };
}

const TARGET = Symbol('target');
const SENT = '-';
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 304]);

type FacadeResponse = ServerResponse & ResponseInternals;
type Callback = (error?: Error | null) => void;

export function facadeOf(request: HttpRequest, response: HttpResponse, url: string, classes: MessageClasses): Facade {
  const socket = new StreamSocket(request.socket, response);
  const incoming = incomingOver(request, url, socket as unknown as Socket, classes);
  const outgoing = new classes.ServerResponse(incoming) as FacadeResponse;
  outgoing[TARGET] = response;
  (outgoing as { socket: unknown }).socket = socket;
  outgoing.writeHead = writeHead;
  outgoing.write = write as FacadeResponse['write'];
  outgoing.end = end as FacadeResponse['end'];
  outgoing.flushHeaders = flushHeaders;
  outgoing.destroy = destroy;
  outgoing.writeContinue = outgoing.writeProcessing = outgoing.writeEarlyHints = outgoing.addTrailers = ignore;
  outgoing.on('error', ignore);
  response.on('drain', () => void outgoing.emit('drain'));
  response.on('finish', () => void outgoing.emit('finish'));
  response.on('close', () => {
    outgoing.destroyed = true;
    const isCutShort = !incoming.complete && !response.writableFinished;
    socket.over();
    // What is left of a body that is not read has no end, and that is no mistake.
    incoming.complete ||= response.writableFinished;
    incoming.destroy(isCutShort ? abortError() : undefined);
    outgoing.emit('close');
  });
  return { request: incoming, response: outgoing };
}

/** Another response than ours goes on: it has the headers that were set here. */
export function handBack(response: ServerResponse): void {
  const target = (response as Partial<ResponseInternals>)[TARGET];
  if (target === undefined || response.headersSent) return;
  const headers = response.getHeaders();
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) target.setHeader(name, typeof value === 'number' ? String(value) : value);
  }
}

function incomingOver(request: HttpRequest, url: string, socket: Socket, classes: MessageClasses): IncomingMessage {
  const incoming = new classes.IncomingMessage(socket);
  const [major = '2', minor = '0'] = request.httpVersion.split('.');
  incoming.httpVersion = request.httpVersion;
  incoming.httpVersionMajor = Number(major);
  incoming.httpVersionMinor = Number(minor);
  incoming.method = request.method ?? 'GET';
  incoming.url = url;
  incoming.headers = { ...request.headers };
  // Body parsers go by it. Over HTTP/2 a body may come without any header.
  if (Number(major) > 1 && !request.readableEnded) incoming.headers['transfer-encoding'] ??= withoutLength(request);
  if (request.readableEnded) incoming.complete = true;
  let isRead = false;
  incoming._read = () => {
    if (isRead) return void request.resume();
    isRead = true;
    (incoming as unknown as RequestInternals)._readableState.readingMore = false;
    if (request.readableEnded) return void incoming.push(null);
    request.on('data', (chunk) => {
      // What was read ahead of its reader is dropped with it.
      if (!incoming.destroyed && !incoming.push(chunk)) request.pause();
    });
    request.on('end', () => {
      incoming.complete = true;
      incoming.push(null);
    });
  };
  return incoming;
}

function withoutLength({ headers }: HttpRequest): string | undefined {
  return headers['content-length'] === undefined ? 'chunked' : undefined;
}

function writeHead(
  this: FacadeResponse,
  code: number,
  reason?: string | HeadersGiven,
  given?: HeadersGiven,
): FacadeResponse {
  if (this.headersSent) throw headersSentError();
  if (isOver(this)) return this;
  const headers = typeof reason === 'string' ? given : (given ?? reason);
  if (headers !== undefined) setAll(this, headers);
  this.statusCode = code;
  if (WITHOUT_BODY.has(code)) this._hasBody = false;
  const all: OutgoingHttpHeaders = this.getHeaders();
  const length = this._contentLength;
  if (length !== null && this._hasBody && !this._removedContLen && all['content-length'] === undefined) {
    all['content-length'] = length;
  }
  this._header = SENT;
  this[TARGET].writeHead(code, all);
  return this;
}

type HeadersGiven = OutgoingHttpHeaders | readonly (OutgoingHttpHeader | readonly OutgoingHttpHeader[])[];

function setAll(response: ServerResponse, headers: HeadersGiven): void {
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers as OutgoingHttpHeaders)) {
      if (value !== undefined) response.setHeader(name, value);
    }
    return;
  }
  // As node:http takes them: pairs, or names and values in turn.
  const flat = headers.every(Array.isArray) ? headers.flat(1) : headers;
  const names = flat.filter((_, index) => index % 2 === 0).map(String);
  for (const name of names) response.removeHeader(name);
  for (const [index, name] of names.entries()) response.appendHeader(name, flat[2 * index + 1] as string);
}

function write(
  this: FacadeResponse,
  chunk: Uint8Array | string,
  encoding?: BufferEncoding | Callback,
  callback?: Callback,
): boolean {
  if (typeof encoding === 'function') return write.call(this, chunk, undefined, encoding);
  checkChunk(chunk);
  const problem = this.finished ? 'write after end' : isOver(this) ? 'the response is over' : undefined;
  if (problem !== undefined) {
    process.nextTick(callback ?? ignore, new Error(problem));
    return false;
  }
  if (!this.headersSent) this.writeHead(this.statusCode);
  if (!this._hasBody) {
    process.nextTick(callback ?? ignore);
    return true;
  }
  return (this[TARGET].write as (chunk: Uint8Array | string, encoding?: BufferEncoding, onTaken?: Callback) => boolean)(
    chunk,
    encoding,
    callback,
  );
}

function end(
  this: FacadeResponse,
  chunk?: Uint8Array | string | Callback | null,
  encoding?: BufferEncoding | Callback,
  callback?: Callback,
): FacadeResponse {
  if (typeof chunk === 'function') return end.call(this, undefined, undefined, chunk);
  if (typeof encoding === 'function') return end.call(this, chunk, undefined, encoding);
  if (this.finished) {
    process.nextTick(callback ?? ignore, new Error('the response has ended'));
    return this;
  }
  if (callback !== undefined) this.once('finish', callback);
  const hasChunk = chunk !== undefined && chunk !== null && chunk.length > 0;
  if (hasChunk) checkChunk(chunk);
  if (!this.headersSent) {
    this._contentLength = hasChunk ? Buffer.byteLength(chunk, encoding) : 0;
    this.writeHead(this.statusCode);
  }
  this.finished = true;
  if (isOver(this)) return this;
  this.emit('prefinish');
  const target = this[TARGET];
  if (hasChunk && this._hasBody) target.end(chunk as string, encoding);
  else target.end();
  return this;
}

/** Its time is over, or the client is gone: the response has been sent, and what comes now is dropped. */
function isOver(response: FacadeResponse): boolean {
  const target = response[TARGET];
  return response.destroyed || target.destroyed || target.writableEnded;
}

function flushHeaders(this: FacadeResponse): void {
  if (isOver(this)) return;
  if (!this.headersSent) this.writeHead(this.statusCode);
  this[TARGET].flushHeaders();
}

function destroy(this: FacadeResponse, error?: Error): FacadeResponse {
  if (this.destroyed) return this;
  this.destroyed = true;
  this[TARGET].destroy(error);
  return this;
}

function checkChunk(chunk: unknown): void {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return;
  throw new TypeError('The "chunk" argument must be of type string or an instance of Buffer or Uint8Array.');
}

function headersSentError(): Error {
  return Object.assign(new Error('Cannot write headers after they are sent to the client'), {
    code: 'ERR_HTTP_HEADERS_SENT',
  });
}

function abortError(): Error {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
}

function ignore(): void {}
