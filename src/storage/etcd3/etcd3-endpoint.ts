import type { CallOptions, ClientDuplexStream, Interceptor } from '@grpc/grpc-js';
import type { IOptions, IWatchRequest, IWatchResponse } from 'etcd3';
import { callOf, readWatchResponse } from './calls';
import { Etcd3, InterceptingCall, noop } from './library';
import type { Endpoint, OpenEndpoint, WatchStream } from '../etcd/endpoint';
import { tlsFilesOf, type Keepalive, type TlsFiles, type TlsSource } from '../etcd/grpc-channel';
import { GrpcCode, GrpcError } from '../etcd/grpc-error';
import type { Method, WatchCreation, WatchResponse } from '../etcd/messages';
import type { Cancellation } from '../store';

/** How much later than its caller gave up a call may end. */
const CANCELLATION_PRECISION_MS = 50;

const GRPC_OPTIONS = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
};

/** What gRPC says of a call that no server has seen. */
const UNSENT = /No connection established|Name resolution failed|Channel closed before call started/;

type EtcdWatch = ClientDuplexStream<IWatchRequest, IWatchResponse>;

/** Over the etcd3 package, which calls with @grpc/grpc-js. */
export const openEtcd3Endpoint: OpenEndpoint = (address, tls, keepalive) => new Etcd3Endpoint(address, tls, keepalive);

class Etcd3Endpoint implements Endpoint {
  readonly #etcd: Etcd3;

  constructor(
    readonly address: string,
    tls: TlsSource | undefined,
    { intervalMs, timeoutMs }: Keepalive,
  ) {
    this.#etcd = new Etcd3({
      hosts: address,
      ...(address.startsWith('https:') && tls && { credentials: credentialsOf(tlsFilesOf(tls)) }),
      // Which calls are sent again, and where, is decided above.
      faultHandling: { global: noop, host: () => noop },
      grpcOptions: { ...GRPC_OPTIONS, 'grpc.keepalive_time_ms': intervalMs, 'grpc.keepalive_timeout_ms': timeoutMs },
    });
  }

  async call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
    signal: Cancellation | undefined,
  ): Promise<Response> {
    signal?.throwIfAborted();
    const options: CallOptions = { deadline: Date.now() + timeoutMs };
    const cancelling = signal && cancelWith(signal, options);
    try {
      return await callOf(method)(this.#etcd, request, options);
    } catch (error) {
      signal?.throwIfAborted();
      throw toGrpcError(error);
    } finally {
      clearInterval(cancelling);
    }
  }

  openWatch(creation: WatchCreation): WatchStream {
    let stream: EtcdWatch | undefined;
    let isCancelled = false;
    return {
      requestProgress: () => stream?.write({ progress_request: {} }),
      cancel: () => {
        isCancelled = true;
        stream?.cancel();
      },
      [Symbol.asyncIterator]: async function* (this: Etcd3Endpoint): AsyncGenerator<readonly WatchResponse[]> {
        try {
          stream = await this.#openWatch(creation);
          if (isCancelled) stream.cancel();
          for await (const response of stream as AsyncIterable<IWatchResponse>) yield [readWatchResponse(response)];
        } catch (error) {
          throw toGrpcError(error);
        }
      }.bind(this),
    };
  }

  /** gRPC sends no ping on demand: its regular ones have to do. */
  checkAlive(): void {}

  close(): void {
    this.#etcd.close();
  }

  async #openWatch({ key, rangeEnd, startRevision, withPrevious }: WatchCreation): Promise<EtcdWatch> {
    // Its type lacks what every stream has, and the request's lacks `fragment`.
    const stream = (await this.#etcd.watchClient.watch({ interceptors: [needsLeader] })) as unknown as EtcdWatch;
    const range = { key: key as Buffer, range_end: rangeEnd as Buffer, start_revision: startRevision };
    const request = { ...range, progress_notify: true, prev_kv: withPrevious, fragment: true };
    stream.write({ create_request: request });
    return stream;
  }
}

/** Cancels the call with these options when its caller gives up, until the timer is cleared. */
function cancelWith(signal: Cancellation, options: CallOptions): NodeJS.Timeout {
  let call: InterceptingCall | undefined;
  const keep: Interceptor = (callOptions, next) => (call = new InterceptingCall(next(callOptions)));
  options.interceptors = [keep];
  const cancel = (): void => {
    if (signal.aborted) call?.cancelWithStatus(GrpcCode.cancelled, 'the caller gave up');
  };
  return setInterval(cancel, CANCELLATION_PRECISION_MS).unref();
}

/** The stream ends when its server is cut off from the others. */
const needsLeader: Interceptor = (options, next) =>
  new InterceptingCall(next(options), {
    start: (metadata, listener, start) => {
      metadata.set('hasleader', 'true');
      start(metadata, listener);
    },
  });

function credentialsOf({ ca, key, certificate }: TlsFiles): NonNullable<IOptions['credentials']> {
  // Its type wants an authority; without one the well-known ones count.
  return {
    rootCertificate: ca as Buffer,
    ...(key && { privateKey: key }),
    ...(certificate && { certChain: certificate }),
  };
}

/** gRPC's texts begin with the code, and etcd3 keeps nothing else of it. */
function toGrpcError(error: unknown): GrpcError {
  const message = error instanceof Error ? error.message : String(error);
  const code = /^(\d+) [A-Z_]+: /.exec(message)?.[1] ?? GrpcCode.unknown;
  return new GrpcError(Number(code), message, UNSENT.test(message), { cause: error });
}
