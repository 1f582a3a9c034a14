import { GrpcChannel, type Keepalive, type TlsSource } from './grpc-channel';
import {
  decodeWatchResponse,
  encodeWatchCreation,
  PROGRESS_REQUEST,
  WATCH_PATH,
  type Method,
  type WatchCreation,
  type WatchResponse,
} from './messages';
import type { Cancellation } from '../store';

/** The responses to one watch; those that arrive together are given together. Fails with a GrpcError. */
export interface WatchStream extends AsyncIterable<readonly WatchResponse[]> {
  requestProgress(): void;
  cancel(): void;
}

/** One etcd server, over one client library or another. Connects when it is needed, and again after it lost its connection. */
export interface Endpoint {
  readonly address: string;
  /** One attempt. Rejects with a GrpcError, or with the signal's reason. */
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
    signal: Cancellation | undefined,
  ): Promise<Response>;
  /** A stream of its own for one watch, which ends when the server loses its leader. May throw a GrpcError. */
  openWatch(creation: WatchCreation): WatchStream;
  /** Its calls and watches fail soon if it hangs. */
  checkAlive(): void;
  close(): void;
}

export type OpenEndpoint = (address: string, tls: TlsSource | undefined, keepalive: Keepalive) => Endpoint;

/** Over our own channel. */
export const openChannelEndpoint: OpenEndpoint = (address, tls, keepalive) =>
  new ChannelEndpoint(address, tls, keepalive);

class ChannelEndpoint implements Endpoint {
  readonly #channel: GrpcChannel;

  constructor(
    readonly address: string,
    tls: TlsSource | undefined,
    keepalive: Keepalive,
  ) {
    this.#channel = new GrpcChannel(address, tls, keepalive);
  }

  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
    signal: Cancellation | undefined,
  ): Promise<Response> {
    return this.#channel.unary(method.path, method.encode(request), timeoutMs, signal).then(method.decode);
  }

  openWatch(creation: WatchCreation): WatchStream {
    const stream = this.#channel.open(WATCH_PATH, { hasleader: 'true' });
    stream.write(encodeWatchCreation(creation));
    return {
      requestProgress: () => stream.write(PROGRESS_REQUEST),
      cancel: () => stream.cancel(),
      [Symbol.asyncIterator]: () => {
        const messages = stream[Symbol.asyncIterator]();
        return { next: () => messages.next().then(decoded), return: () => messages.return!().then(decoded) };
      },
    };
  }

  checkAlive(): void {
    this.#channel.checkAlive();
  }

  close(): void {
    this.#channel.close();
  }
}

function decoded(
  result: IteratorResult<readonly Buffer[], undefined>,
): IteratorResult<readonly WatchResponse[], undefined> {
  return result.done === true ? result : { done: false, value: result.value.map(decodeWatchResponse) };
}
