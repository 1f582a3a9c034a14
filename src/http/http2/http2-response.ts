import { EventEmitter } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import type { FlowNames, HttpResponse } from '../transport/exchange';
import { addHeaders, encodeResponseHead, encodeTrailers, type ResponseHeaders } from './response-head';

const NO_BODY_CODES: ReadonlySet<number> = new Set([204, 304]);
const NOTHING: Buffer = Buffer.alloc(0);

/** Called when bytes have been copied, or with why they never will be. */
export type OnTaken = (error?: Error | null) => void;

/** What a response needs of its stream. */
export interface ResponseStream {
  /** Nothing is sent any more. */
  readonly isClosed: boolean;
  /** Bytes wait for the client's windows. */
  readonly isHeldBack: boolean;
  sendHead(block: Buffer, isLast: boolean): void;
  /** A text has a character per byte. */
  sendData(bytes: Uint8Array | string, isLast: boolean, onTaken?: OnTaken): void;
  /** What follows the last byte. */
  keepTrailers(block: Buffer): void;
  /** The response will not be completed. */
  abort(): void;
  /** The client is to open another connection for its next requests. */
  leaveConnection(): void;
}

/** An answer that shares its connection with others. */
export class Http2Response extends EventEmitter implements HttpResponse {
  flow: FlowNames | undefined = undefined;
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  #headers: ResponseHeaders | undefined;
  #isBrokenOff = false;
  /** Made and not sent yet. */
  #head: Buffer | undefined;
  #isWithoutBody: boolean;
  #hasTrailers = false;

  constructor(
    private readonly stream: ResponseStream,
    isHead: boolean,
  ) {
    super();
    this.#isWithoutBody = isHead;
  }

  /** No more of it is sent: it was broken off, the client is gone, or it is complete. */
  get destroyed(): boolean {
    return this.#isBrokenOff || this.stream.isClosed;
  }

  get writable(): boolean {
    return !this.writableEnded && !this.destroyed;
  }

  get writableNeedDrain(): boolean {
    return this.stream.isHeldBack;
  }

  setHeader(name: string, value: string | readonly string[]): this {
    (this.#headers ??= {})[name.toLowerCase()] = value;
    return this;
  }

  hasHeader(name: string): boolean {
    return this.#headers !== undefined && name.toLowerCase() in this.#headers;
  }

  removeHeader(name: string): void {
    if (this.#headers !== undefined) delete this.#headers[name.toLowerCase()];
  }

  writeHead(code: number, headers?: OutgoingHttpHeaders): this {
    if (this.headersSent) throw new Error('the head of the answer is out');
    this.headersSent = true;
    this.statusCode = code;
    const all = this.#headers ?? {};
    this.#headers = undefined;
    if (headers !== undefined) addHeaders(all, headers);
    if (all.connection === 'close') this.stream.leaveConnection();
    if (NO_BODY_CODES.has(code)) this.#isWithoutBody = true;
    this.#head = encodeResponseHead(code, all);
    return this;
  }

  flushHeaders(): void {
    this.#sendHead(false);
  }

  /** None for an answer without a body: its head is its end. */
  addTrailers(trailers: OutgoingHttpHeaders): void {
    if (this.#isWithoutBody || this.writableEnded) return;
    this.#hasTrailers = true;
    this.stream.keepTrailers(encodeTrailers(trailers));
  }

  /** Text is UTF-8 unless it is said to be latin1. The bytes must stay as they are until `onTaken`. */
  write(chunk: Uint8Array | string, encoding?: BufferEncoding | OnTaken, onTaken?: OnTaken): boolean {
    if (typeof encoding === 'function') return this.write(chunk, undefined, encoding);
    if (!this.writable) {
      onTaken?.(new Error('the answer has ended'));
      return true;
    }
    this.#sendHead(false);
    if (this.#isWithoutBody) {
      onTaken?.();
      return true;
    }
    this.stream.sendData(bytesOf(chunk, encoding), false, onTaken);
    return !this.stream.isHeldBack;
  }

  end(chunk?: Uint8Array | string | (() => void), encoding?: BufferEncoding | (() => void)): this {
    if (!this.writable) return this;
    const isEmpty = chunk === undefined || typeof chunk === 'function' || chunk.length === 0 || this.#isWithoutBody;
    const isHeadOut = this.headersSent && this.#head === undefined;
    this.writableEnded = true;
    if (isEmpty && !isHeadOut && !this.#hasTrailers) {
      this.#sendHead(true);
      return this;
    }
    this.#sendHead(false);
    const bytes = isEmpty ? NOTHING : bytesOf(chunk, typeof encoding === 'function' ? undefined : encoding);
    this.stream.sendData(bytes, true);
    return this;
  }

  destroy(): this {
    this.#isBrokenOff = true;
    this.stream.abort();
    return this;
  }

  /** The answer is over: whole and handed to the system, or not. */
  close(isWhole: boolean): void {
    this.writableFinished = isWhole;
    if (isWhole) this.emit('finish');
    this.emit('close');
  }

  #sendHead(isLast: boolean): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    const head = this.#head;
    if (head === undefined) return;
    this.#head = undefined;
    this.stream.sendHead(head, isLast);
  }
}

function bytesOf(chunk: Uint8Array | string, encoding: BufferEncoding | undefined): Uint8Array | string {
  return typeof chunk === 'string' && encoding !== 'latin1' ? Buffer.from(chunk, encoding) : chunk;
}
