import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/**
 * A request as the filters and endpoints see it, whichever version of HTTP brought it. Its body comes in `data` events from
 * the moment there is a listener, until `end`; `close` without `end` means that the client is gone.
 */
export interface HttpRequest extends Pick<
  IncomingMessage,
  'method' | 'url' | 'httpVersion' | 'headers' | 'headersDistinct' | 'socket' | 'readableEnded' | 'destroyed'
> {
  on(event: 'data', listener: (chunk: Buffer) => void): this;
  on(event: 'end' | 'close', listener: () => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  off(event: 'data', listener: (chunk: Buffer) => void): this;
  off(event: 'end' | 'close', listener: () => void): this;
  off(event: 'error', listener: (error: Error) => void): this;
  /** What is left of the body is dropped as it comes. */
  resume(): unknown;
  /** No more of the body comes until `resume`. */
  pause(): unknown;
  /** Present where the client wants to go on with another protocol on this connection. */
  readonly connectionUpgrade?: ConnectionUpgrade;
  /** The certificate of its connection proves nothing here. */
  readonly hidesCertificate?: boolean;
  /** What is left of the body is not all that was sent. */
  readonly bodyWasRead?: boolean;
  /** The client has proved who it is: its connection may hold more than that of a stranger. */
  trustClient?(): void;
}

/** A connection that may be taken for another protocol, as long as nothing is answered. */
export interface ConnectionUpgrade {
  readonly isTaken: boolean;
  /**
   * From now on the connection is the caller's, who answers the request on it. `head` came after the request. The request ends
   * with the connection.
   */
  take(): { readonly socket: Socket; readonly head: Buffer };
}

/** The objects that a request went by. */
export interface FlowNames {
  readonly schemaUid: string;
  readonly levelUid: string;
}

/** An answer as it is written, whichever version of HTTP carries it. `close` comes once, whole answer or not. */
export interface HttpResponse extends NodeJS.WritableStream {
  /** What flow control made of the request; told in the head. */
  flow?: FlowNames | undefined;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  /** `end` was called. */
  readonly writableEnded: boolean;
  /** All was handed to the system. */
  readonly writableFinished: boolean;
  readonly writableNeedDrain: boolean;
  setHeader(name: string, value: string | readonly string[]): unknown;
  hasHeader(name: string): boolean;
  removeHeader(name: string): void;
  writeHead(code: number, headers?: OutgoingHttpHeaders): unknown;
  /** Sends the head before there is a body. */
  flushHeaders(): void;
  /** Headers that come after the body, where the version of HTTP and the body's framing have them. Before `end`. */
  addTrailers(trailers: OutgoingHttpHeaders): void;
  /** Breaks the answer off so that the client notices. */
  destroy(error?: Error): unknown;
}
