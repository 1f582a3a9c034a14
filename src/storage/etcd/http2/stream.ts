import type { Headers } from './known-headers';

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * One request and what comes back: what the connection keeps of it (its fields, which nothing else changes), and what it
 * tells. After `onEnd` or `onFailure`, or once it is cancelled, it hears no more.
 */
export abstract class Http2Stream {
  /** 0 while it waits for its turn. */
  id = 0;
  isClosed = false;
  /** How many bytes the server lets us send; below 0 when it has changed its mind. */
  sendWindow = 0;
  /** Bytes that the server has not been told that we took. */
  received = 0;
  /** What waits for the window, and whether that is all. */
  outgoing = NOTHING;
  isOutgoingLast = false;
  /** We have sent END_STREAM. */
  hasSentAll = false;

  /** Called for each block of headers, and for trailers. */
  abstract onHeaders(headers: Headers): void;
  /**
   * The bytes are only there during the call. It may throw what it cannot understand: that resets the stream and fails it
   * with the error.
   */
  abstract onData(bytes: Buffer): void;
  /** The server has said all. */
  abstract onEnd(): void;
  /** `isUnsent`: the server has certainly not acted on the stream. */
  abstract onFailure(error: Error, isUnsent: boolean): void;
}
