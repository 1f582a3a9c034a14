import type { LoadRequest, Target } from './job';

/** Where a response goes as it comes. */
export interface ResponseSink {
  readonly onHead?: (status: number) => void;
  /** Bytes of the body, without chunk marks. */
  readonly onBody?: (piece: Buffer) => void;
}

export interface LoadResponse {
  readonly status: number;
  /** The text of HTTP/1.1; empty over HTTP/2. */
  readonly head: string;
  /** How long the body was. */
  readonly bytes: number;
}

/** A connection, for as many clients as the protocol allows. */
export interface LoadConnection {
  /** `encoded` is what the protocol's `encodeRequest` made. */
  send(encoded: Buffer, sink?: ResponseSink): Promise<LoadResponse>;
  /** Also for those that share the connection. */
  close(): void;
}

export interface LoadProtocol {
  readonly clientsPerConnection: number;
  readonly open: (target: Target) => Promise<LoadConnection>;
  /** The bytes of a request, which can be sent any number of times. */
  encodeRequest(target: Target, request: LoadRequest & { readonly headers: Readonly<Record<string, string>> }): Buffer;
}

export interface Waiting {
  readonly resolve: (response: LoadResponse) => void;
  readonly reject: (error: Error) => void;
}
