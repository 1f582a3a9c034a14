import { GrpcCode, GrpcError } from './grpc-error';
import { MessageReader } from './grpc-frames';
import type { Headers } from './http2/known-headers';
import { Http2Stream } from './http2/stream';
import type { Cancellation } from '../store';

/** What all calls have in common: messages arrive, and the server says how it ended. */
export abstract class GrpcCall extends Http2Stream {
  readonly #messages = new MessageReader();
  #code: number | undefined;
  #message = '';
  #httpStatus: string | undefined;

  constructor(
    /** By `performance.now()`. */
    readonly deadline: number,
    /** Looked at now and then: a listener for each call would cost more. */
    readonly signal: Cancellation | undefined,
  ) {
    super();
  }

  /** Headers or trailers: a call that fails at once has its status in the former. */
  override onHeaders(headers: Headers): void {
    this.#httpStatus = headers.get(':status') ?? this.#httpStatus;
    const code = headers.get('grpc-status');
    if (code === undefined) return;
    this.#code = Number(code);
    this.#message = decodeMessage(headers.get('grpc-message') ?? '');
  }

  override onData(bytes: Buffer): void {
    const messages = this.#messages.push(bytes);
    if (messages.length > 0) this.take(messages);
  }

  override onEnd(): void {
    // Errors are made when there is one: their stacks cost more than the rest of the call.
    if (this.#code === GrpcCode.ok) this.settle(undefined);
    else this.onFailure(new Error(`the stream ended (HTTP status ${this.#httpStatus ?? 'unknown'})`), false);
  }

  /** A status of the server counts more than how the stream ended. */
  override onFailure(error: Error, isUnsent: boolean): void {
    if (this.#code === GrpcCode.ok) this.settle(undefined);
    else if (this.#code !== undefined) this.settle(new GrpcError(this.#code, this.#message));
    else this.settle(new GrpcError(GrpcCode.unavailable, error.message, isUnsent, { cause: error }));
  }

  protected abstract take(messages: readonly Buffer[]): void;

  /** Called once; without an error when the call went well. */
  abstract settle(error: Error | undefined): void;
}

/** One message there, one back. */
export class UnaryCall extends GrpcCall {
  #response: Buffer | undefined;

  constructor(
    deadline: number,
    signal: Cancellation | undefined,
    private readonly resolve: (response: Buffer) => void,
    private readonly reject: (error: Error) => void,
  ) {
    super(deadline, signal);
  }

  protected override take(messages: readonly Buffer[]): void {
    this.#response = messages.at(-1);
  }

  override settle(error: Error | undefined): void {
    if (error !== undefined) this.reject(error);
    else if (this.#response !== undefined) this.resolve(this.#response);
    else this.reject(new GrpcError(GrpcCode.internal, 'the answer has no message'));
  }
}

type Messages = IteratorResult<readonly Buffer[], undefined>;

/** Messages both ways, without a deadline. */
export class StreamCall extends GrpcCall {
  #arrived: Buffer[] = [];
  #hasEnded = false;
  #error: Error | undefined;
  #waiting: { readonly resolve: (messages: Messages) => void; readonly reject: (error: Error) => void } | undefined;

  constructor() {
    super(Infinity, undefined);
  }

  /** All that have arrived, as soon as there are any. Rejects with the error with which the call ended, if any. */
  next(): Promise<Messages> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#wake();
    });
  }

  protected override take(messages: readonly Buffer[]): void {
    // What comes in one turn of the loop comes in several pieces; the reader is to hear of it once.
    if (this.#arrived.length === 0) setImmediate(this.#wake);
    this.#arrived.push(...messages);
  }

  override settle(error: Error | undefined): void {
    this.#hasEnded = true;
    this.#error = error;
    this.#wake();
  }

  readonly #wake = (): void => {
    const waiting = this.#waiting;
    const value = this.#arrived;
    if (waiting === undefined || (value.length === 0 && !this.#hasEnded)) return;
    this.#waiting = undefined;
    if (value.length > 0) {
      this.#arrived = [];
      waiting.resolve({ done: false, value });
    } else if (this.#error !== undefined) waiting.reject(this.#error);
    else waiting.resolve({ done: true, value: undefined });
  };
}

/** gRPC percent-encodes what is not printable. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
