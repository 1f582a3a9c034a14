import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpRequest, HttpResponse } from './exchange';

/**
 * A request that came over the host application's server, perhaps through middleware. What is done to it here (its token is taken away) is not
 * seen there, and what they did to it (a URL cut off at the front) stays.
 */
export class MountedRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  /** Their TLS decides which certificates it believes, and they are no users of ours. */
  readonly hidesCertificate = true;
  /** Middleware has read of the body, which is not whole any more. */
  readonly bodyWasRead: boolean;
  #distinct: NodeJS.Dict<string[]> | undefined;

  constructor(private readonly inner: IncomingMessage) {
    this.method = inner.method ?? 'GET';
    this.url = inner.url ?? '/';
    this.httpVersion = inner.httpVersion;
    this.headers = headersOf(inner);
    this.socket = inner.socket;
    this.bodyWasRead = hasBody(inner) && (inner.readableDidRead || inner.readableEnded);
  }

  get headersDistinct(): NodeJS.Dict<string[]> {
    // The HTTP/2 of Node.js has none.
    return (this.#distinct ??= this.inner.headersDistinct ?? distinctOf(this.headers));
  }

  get readableEnded(): boolean {
    return this.inner.readableEnded;
  }

  get destroyed(): boolean {
    return this.inner.destroyed;
  }

  on(event: string, listener: (...values: never[]) => void): this {
    this.inner.on(event, listener as Listener);
    return this;
  }

  off(event: string, listener: (...values: never[]) => void): this {
    this.inner.off(event, listener as Listener);
    return this;
  }

  resume(): this {
    this.inner.resume();
    return this;
  }

  pause(): this {
    this.inner.pause();
    return this;
  }
}

function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  if (httpVersionMajor > 1) return headers['content-length'] !== '0' && headers['content-type'] !== undefined;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Over Node's HTTP/2 the method and the path are among them, and the host has another name. */
function headersOf({ headers, httpVersionMajor }: IncomingMessage): IncomingHttpHeaders {
  if (httpVersionMajor < 2) return { ...headers };
  const { ':authority': authority, ...others } = headers;
  const plain = Object.fromEntries(Object.entries(others).filter(([name]) => !name.startsWith(':')));
  return { ...(typeof authority === 'string' && { host: authority }), ...plain };
}

function distinctOf(headers: IncomingHttpHeaders): NodeJS.Dict<string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value : [String(value)]]),
  );
}

const FORWARDED_EVENTS = ['prefinish', 'finish', 'close', 'error'] as const;

/**
 * The response to it. Middleware replaces the methods of responses, and not everything that ours rely on is in what it puts there: callbacks
 * of writes, above all. So bytes are copied, and only `drain` and the results of writes are waited for.
 */
export class MountedResponse extends EventEmitter implements HttpResponse {
  #isEnded = false;
  #needsDrain = false;
  readonly #speaksHttp1: boolean;

  constructor(private readonly inner: ServerResponse & { flush?: () => void }) {
    super();
    this.#speaksHttp1 = inner.req.httpVersionMajor < 2;
    for (const event of FORWARDED_EVENTS) inner.on(event, (value: unknown) => this.#forward(event, value));
    inner.on('drain', () => {
      this.#needsDrain = false;
      this.emit('drain');
    });
  }

  get headersSent(): boolean {
    return this.inner.headersSent;
  }

  get destroyed(): boolean {
    return this.inner.destroyed;
  }

  get writable(): boolean {
    return !this.#isEnded && !this.destroyed;
  }

  get writableEnded(): boolean {
    return this.#isEnded;
  }

  get writableFinished(): boolean {
    return this.inner.writableFinished;
  }

  get writableNeedDrain(): boolean {
    return this.#needsDrain && !this.#isEnded;
  }

  setHeader(name: string, value: string | readonly string[]): this {
    if (this.#speaksHttp1 || name.toLowerCase() !== 'connection') this.inner.setHeader(name, value);
    return this;
  }

  hasHeader(name: string): boolean {
    return this.inner.hasHeader(name);
  }

  /** Whether connections are kept is for their server to say. */
  removeHeader(name: string): void {
    if (name.toLowerCase() !== 'connection') this.inner.removeHeader(name);
  }

  writeHead(code: number, headers?: OutgoingHttpHeaders): this {
    this.inner.writeHead(code, headers);
    return this;
  }

  flushHeaders(): void {
    this.inner.flushHeaders();
    this.inner.flush?.();
  }

  addTrailers(trailers: OutgoingHttpHeaders): void {
    this.inner.addTrailers(trailers);
  }

  write(chunk: Uint8Array | string, encoding?: BufferEncoding | OnTaken, onTaken?: OnTaken): boolean {
    if (typeof encoding === 'function') return this.write(chunk, undefined, encoding);
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
    const takesMore = this.inner.write(bytes);
    // What compresses keeps events of a watch until it has enough of them.
    this.inner.flush?.();
    if (!takesMore) this.#needsDrain = true;
    if (onTaken !== undefined) process.nextTick(onTaken);
    return takesMore;
  }

  end(chunk?: Uint8Array | string | (() => void), encoding?: BufferEncoding | (() => void)): this {
    if (this.#isEnded) return this;
    this.#isEnded = true;
    if (chunk === undefined || typeof chunk === 'function') this.inner.end();
    else if (typeof chunk === 'string')
      this.inner.end(Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8'));
    else this.inner.end(chunk);
    return this;
  }

  destroy(error?: Error): this {
    this.inner.destroy(error);
    return this;
  }

  #forward(event: string, value: unknown): void {
    if (event !== 'error' || this.listenerCount('error') > 0) this.emit(event, value);
  }
}

type Listener = (...values: unknown[]) => void;
type OnTaken = (error?: Error | null) => void;
