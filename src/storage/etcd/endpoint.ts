import { GrpcChannel, type GrpcStream, type Keepalive, type TlsFiles } from './grpc-channel';
import {
  decodeWatchResponse,
  encodeWatchCreation,
  PROGRESS_REQUEST,
  WATCH_PATH,
  type Method,
  type WatchCreation,
  type WatchResponse,
} from './messages';

/** The responses to one watch; those that arrive together are given together. */
export interface WatchStream extends AsyncIterable<readonly WatchResponse[]> {
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

  /** Rejects with a GrpcError, or with the signal's reason. */
  async call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    return method.decode(await this.#channel.unary(method.path, method.encode(request), timeoutMs, signal));
  }

  /** A stream of its own for one watch, which ends when the server loses its leader. Throws a GrpcError. */
  openWatch(creation: WatchCreation): WatchStream {
    const stream = this.#channel.open(WATCH_PATH, { hasleader: 'true' });
    stream.write(encodeWatchCreation(creation));
    return {
      requestProgress: () => stream.write(PROGRESS_REQUEST),
      cancel: () => stream.cancel(),
      [Symbol.asyncIterator]: () => decoded(stream),
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

async function* decoded(stream: GrpcStream): AsyncGenerator<readonly WatchResponse[], void> {
  for await (const messages of stream) yield messages.map(decodeWatchResponse);
}
