import type { Socket } from 'node:net';
import type { MemoryAccount } from '../../memory/memory-budget';
import { Http2Request } from './http2-request';
import { Http2Response, type OnTaken, type ResponseStream } from './http2-response';
import type { RequestHead } from './request-head';

/** Bytes of an answer that wait for the client's windows. */
export interface Waiting {
  readonly bytes: Uint8Array;
  readonly onTaken: OnTaken | undefined;
}

/** Sends what streams say, as far as the client's windows are open. */
export interface StreamSender {
  readonly account: MemoryAccount;
  head(stream: Http2ServerStream, block: Buffer, isLast: boolean): void;
  data(stream: Http2ServerStream, bytes: Uint8Array | string, isLast: boolean, onTaken?: OnTaken): void;
}

/** What a stream needs of its connection. */
export interface StreamOwner {
  readonly socket: Socket;
  readonly sender: StreamSender;
  /** Bytes of the request's body were read. */
  bodyTaken(stream: Http2ServerStream, bytes: number): void;
  abort(stream: Http2ServerStream): void;
  /** The client of one of the requests has proved who it is. */
  trust(): void;
  drain(): void;
}

/** A body of theirs means nothing (RFC 9110, 9.3.1), and no endpoint reads it. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * What a stream is taken to hold while its answer waits for the client, besides the bytes of it: the request and all that was found
 * out about it. Measured: 3.5 kB on V8's heap, and what the heap grows by until they are collected.
 */
export const HELD_BACK_BYTES = 6 * 1024;

const NONE: readonly Waiting[] = [];

/** One request and its answer, with what their connection keeps of them. Only the connection changes its fields. */
export class Http2ServerStream implements ResponseStream {
  readonly request: Http2Request;
  readonly response: Http2Response;
  readonly headerBytes: number;
  /** Bytes of the body for which the client's window has not been opened again, and those of them that were taken. */
  received = 0;
  taken = 0;
  /** Bytes of a body that is not read any more. */
  dropped = 0;
  readonly hasUsefulBody: boolean;
  /** What is to come according to Content-Length. */
  bodyLeft: number | undefined;
  /** By how much the client takes more than it does on a new stream, or less. */
  sendWindow = 0;
  waiting = NONE;
  /** Of the first one that waits. */
  sentOfFirst = 0;
  /** Nothing comes after what waits, but the trailers. */
  isEnding = false;
  trailers: Buffer | undefined = undefined;
  /** The last byte of the answer is on its way. */
  isAnswered = false;
  /** Ends a stream whose client does not take the end of the answer. */
  endTimer: NodeJS.Timeout | undefined;
  /** Nothing is sent any more. */
  isClosed = false;

  constructor(
    private readonly owner: StreamOwner,
    readonly id: number,
    head: RequestHead,
    /** The client has said all. */
    public hasReceivedAll: boolean,
  ) {
    const length = head.headers['content-length'];
    this.headerBytes = head.bytes;
    this.hasUsefulBody = !WITHOUT_BODY.has(head.method);
    this.bodyLeft = length === undefined ? undefined : Number(length);
    this.request = new Http2Request(head, owner.socket, hasReceivedAll, this);
    this.response = new Http2Response(this, head.method === 'HEAD');
  }

  get isHeldBack(): boolean {
    return this.waiting.length > 0;
  }

  sendHead(block: Buffer, isLast: boolean): void {
    if (!this.isClosed) this.owner.sender.head(this, block, isLast);
  }

  /** A text has a character per byte. `onTaken` is called when the bytes have been copied, or never will be. */
  sendData(bytes: Uint8Array | string, isLast: boolean, onTaken?: OnTaken): void {
    if (this.isClosed) onTaken?.(new Error('the stream is closed'));
    else this.owner.sender.data(this, bytes, isLast, onTaken);
  }

  keepTrailers(block: Buffer): void {
    this.trailers = block;
  }

  bodyTaken(bytes: number): void {
    if (!this.isClosed) this.owner.bodyTaken(this, bytes);
  }

  /** The client has proved who it is. */
  trustClient(): void {
    this.owner.trust();
  }

  bodyKept(bytes: number): void {
    const { account } = this.owner.sender;
    if (bytes > 0) account.hold(bytes);
    else account.release(-bytes);
  }

  /** The answer will not be completed. */
  abort(): void {
    if (!this.isClosed) this.owner.abort(this);
  }

  /** The client is to open another connection for its next requests. */
  leaveConnection(): void {
    this.owner.drain();
  }

  /** Nothing more is sent; writers that wait for room are told. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.endTimer);
    this.request.forgetBody();
    this.owner.sender.account.follow(this);
    const { waiting } = this;
    this.waiting = NONE;
    if (waiting.length === 0) return;
    this.owner.sender.account.release(HELD_BACK_BYTES);
    const error = new Error('the stream is closed');
    for (const { onTaken } of waiting) onTaken?.(error);
  }

  /** Tells the request and the answer that it is over. */
  tellEnd(): void {
    if (!this.request.readableEnded) this.request.emit('close');
    this.response.close(this.isAnswered);
  }
}
