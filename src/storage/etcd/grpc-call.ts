import { GrpcCode, GrpcError } from './grpc-error';
import { MessageReader } from './grpc-frames';
import type { Headers } from './http2/hpack';
import { Http2Stream } from './http2/stream';

/** What all calls have in common: messages arrive, and the server says how it ended. */
export abstract class GrpcCall extends Http2Stream {
  readonly #messages = new MessageReader();
  #code: number | undefined;
  #message = '';
  #httpStatus: string | undefined;

  /** `deadline`: by `performance.now()`. */
  constructor(readonly deadline: number) {
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
  abstract settle(error: GrpcError | undefined): void;
}

/** One message there, one back. */
export class UnaryCall extends GrpcCall {
  #answer: Buffer | undefined;
  /** Stops waiting for whoever might abort the call. */
  release: (() => void) | undefined;

  constructor(
    deadline: number,
    private readonly resolve: (answer: Buffer) => void,
    private readonly reject: (error: GrpcError) => void,
  ) {
    super(deadline);
  }

  protected override take(messages: readonly Buffer[]): void {
    this.#answer = messages.at(-1);
  }

  override settle(error: GrpcError | undefined): void {
    this.release?.();
    if (error !== undefined) this.reject(error);
    else if (this.#answer !== undefined) this.resolve(this.#answer);
    else this.reject(new GrpcError(GrpcCode.internal, 'the answer has no message'));
  }
}

/** Messages both ways, without a deadline. */
export class StreamCall extends GrpcCall {
  #arrived: Buffer[] = [];
  #hasEnded = false;
  #error: GrpcError | undefined;
  #wake: () => void = () => undefined;

  constructor() {
    super(Infinity);
  }

  protected override take(messages: readonly Buffer[]): void {
    // What comes in one turn of the loop comes in several pieces; whoever follows is to hear of it once.
    if (this.#arrived.length === 0) setImmediate(() => this.#wake());
    this.#arrived.push(...messages);
  }

  override settle(error: GrpcError | undefined): void {
    this.#hasEnded = true;
    this.#error = error;
    this.#wake();
  }

  /** What arrives together is given together. Throws the error with which the call ended, if any; calls `leave` at the end. */
  async *messages(leave: () => void): AsyncGenerator<readonly Buffer[], void> {
    try {
      for (;;) {
        if (this.#arrived.length > 0) {
          const messages = this.#arrived;
          this.#arrived = [];
          yield messages;
        } else if (this.#hasEnded) {
          if (this.#error !== undefined) throw this.#error;
          return;
        } else {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
      }
    } finally {
      leave();
    }
  }
}

/** gRPC percent-encodes what is not printable. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
