import { GrpcChannel, type Keepalive, type TlsFiles } from './grpc-channel';
import { encodeWatchCreation, PROGRESS_REQUEST, WATCH_PATH, type Method, type WatchCreation } from './messages';
import type { Cancellation } from '../store';

/** The responses to one watch, to be decoded; those that arrive together are given together. */
export interface WatchStream extends AsyncIterable<readonly Buffer[]> {
  requestProgress(): void;
  cancel(): void;
}

/** One etcd server. */
export class Endpoint {
  readonly #channel: GrpcChannel;

  constructor(
    readonly address: string,
    tls: TlsFiles | undefined,
    keepalive: Keepalive | undefined,
  ) {
    this.#channel = new GrpcChannel(address, tls, keepalive);
  }

  /** Resolves with the answer, to be decoded. Rejects with a GrpcError, or with the signal's reason. */
  call<Request>(
    method: Method<Request, unknown>,
    request: Request,
    timeoutMs: number,
    signal: Cancellation | undefined,
  ): Promise<Buffer> {
    return this.#channel.unary(method.path, method.encode(request), timeoutMs, signal);
  }

  /** A stream of its own for one watch, which ends when the server loses its leader. Throws a GrpcError. */
  openWatch(creation: WatchCreation): WatchStream {
    const stream = this.#channel.open(WATCH_PATH, { hasleader: 'true' });
    stream.write(encodeWatchCreation(creation));
    return {
      requestProgress: () => stream.write(PROGRESS_REQUEST),
      cancel: () => stream.cancel(),
      [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
    };
  }

  /** Its calls and watches fail soon if it hangs. */
  checkAlive(): void {
    this.#channel.checkAlive();
  }

  close(): void {
    this.#channel.close();
  }
}
