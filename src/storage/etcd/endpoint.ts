import { ConnectionPool } from 'etcd3/lib/connection-pool';
import type {
  ICompactionRequest,
  ICompactionResponse,
  ILeaseGrantRequest,
  ILeaseGrantResponse,
  IRangeRequest,
  IRangeResponse,
  IStatusResponse,
  ITxnRequest,
  ITxnResponse,
  IWatchRequest,
  IWatchResponse,
} from 'etcd3';

export interface TlsFiles {
  /** Contents of PEM files: the authority that signed the servers' certificates, and our own key and certificate. */
  readonly ca?: Buffer;
  readonly key?: Buffer;
  readonly certificate?: Buffer;
}

/** The calls that the store makes, by service. */
export interface Calls {
  readonly range: Call<'KV', IRangeRequest, IRangeResponse>;
  readonly txn: Call<'KV', ITxnRequest, ITxnResponse>;
  readonly compact: Call<'KV', ICompactionRequest, ICompactionResponse>;
  readonly leaseGrant: Call<'Lease', ILeaseGrantRequest, ILeaseGrantResponse>;
  readonly status: Call<'Maintenance', Record<string, never>, IStatusResponse>;
}

interface Call<Service extends string, Request, Response> {
  readonly service: Service;
  readonly request: Request;
  readonly response: Response;
}

export interface WatchStream extends AsyncIterable<IWatchResponse> {
  write(request: IWatchRequest): void;
  cancel(): void;
}

const services: { readonly [Method in keyof Calls]: Calls[Method]['service'] } = {
  range: 'KV',
  txn: 'KV',
  compact: 'KV',
  leaseGrant: 'Lease',
  status: 'Maintenance',
};

type Service = (typeof services)[keyof Calls] | 'Watch';
type Connection = Parameters<Parameters<ConnectionPool['withConnection']>[1]>[0];

/** One method of a gRPC client. etcd3 types its clients only from outside, where each call costs twice as much. */
type UnaryMethod = (
  request: unknown,
  metadata: Connection['metadata'],
  options: { readonly deadline: number },
  callback: (error: Error | null, response: unknown) => void,
) => { cancel(): void };

const MEBIBYTE = 1024 * 1024;

// kube-apiserver's keepalive towards etcd: a ping every 30 seconds, an answer within 10.
const CHANNEL_OPTIONS = {
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // Bookkeeping of the library that costs every call something: introspection, and retries of its own.
  'grpc.enable_channelz': 0,
  'grpc.enable_retries': 0,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': 64 * MEBIBYTE,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
};

/** One etcd server: etcd3's gRPC clients for it, without etcd3's policies for retries, which would repeat writes. */
export class Endpoint {
  readonly #pool: ConnectionPool;
  readonly #connections = new Map<Service, Promise<Connection>>();

  constructor(
    readonly address: string,
    tls: TlsFiles | undefined,
  ) {
    const { ca, key, certificate } = tls ?? {};
    this.#pool = new ConnectionPool({
      hosts: address,
      grpcOptions: CHANNEL_OPTIONS,
      ...(tls && {
        credentials: {
          // gRPC takes the absence of authorities to mean the well-known ones; etcd3's type does not.
          rootCertificate: ca as Buffer,
          ...(key && { privateKey: key }),
          ...(certificate && { certChain: certificate }),
        },
      }),
    });
  }

  /** Rejects with gRPC's errors, or with the signal's reason. */
  async call<Method extends keyof Calls>(
    method: Method,
    request: Calls[Method]['request'],
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Calls[Method]['response']> {
    const { client, metadata } = await this.#connect(services[method]);
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const unary = (client as unknown as Record<keyof Calls, UnaryMethod>)[method];
      const running = unary.call(client, request, metadata, { deadline: Date.now() + timeoutMs }, (error, response) => {
        signal?.removeEventListener('abort', abort);
        if (error) reject(error);
        else resolve(response as Calls[Method]['response']);
      });
      function abort(): void {
        reject(signal?.reason as Error);
        running.cancel();
      }
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** A stream of its own for one watch, which ends when the server loses its leader. */
  async openWatch(): Promise<WatchStream> {
    const { client, metadata } = await this.#connect('Watch');
    const needsLeader = metadata.clone();
    needsLeader.set('hasleader', 'true');
    return (client as unknown as { watch(metadata: Connection['metadata']): WatchStream }).watch(needsLeader);
  }

  close(): void {
    this.#pool.close();
  }

  #connect(service: Service): Promise<Connection> {
    let connection = this.#connections.get(service);
    if (connection === undefined) {
      connection = this.#pool.withConnection(service, (found) => found);
      this.#connections.set(service, connection);
    }
    return connection;
  }
}
