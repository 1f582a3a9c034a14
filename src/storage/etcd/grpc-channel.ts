import { connect, isIP, type NetConnectOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { StreamCall, UnaryCall, type GrpcCall } from './grpc-call';
import { GrpcCode, GrpcError } from './grpc-error';
import { messagePrefix } from './grpc-frames';
import { Http2Connection } from './http2/connection';
import { encodeHeaders } from '../../http2/hpack';
import type { Cancellation } from '../store';

/** Contents of PEM files: the authority that signed the servers' certificates, and our own key and certificate. */
export interface TlsFiles {
  readonly ca?: Buffer;
  readonly key?: Buffer;
  readonly certificate?: Buffer;
}

/** The same as it is now: asked for each connection, where files may be replaced. */
export type TlsSource = TlsFiles | (() => TlsFiles);

export function tlsFilesOf(source: TlsSource | undefined): TlsFiles {
  return typeof source === 'function' ? source() : (source ?? {});
}

/** A call in both directions. What arrives together is given together. */
export interface GrpcStream extends AsyncIterable<readonly Buffer[]> {
  write(message: Uint8Array): void;
  /** The iteration then ends with a {@link GrpcError}. */
  cancel(): void;
}

/** How a server that hangs is told from one that has nothing to say. */
export interface Keepalive {
  /** How often it is pinged. etcd's `--grpc-keepalive-min-time` allows that every 5 seconds. */
  readonly intervalMs: number;
  /** How long it may take to answer. */
  readonly timeoutMs: number;
}

/** As kube-apiserver's towards etcd. */
export const DEFAULT_KEEPALIVE: Keepalive = { intervalMs: 30_000, timeoutMs: 10_000 };
const MIN_CHECK_PAUSE_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
const FIRST_RECONNECT_PAUSE_MS = 100;
const MAX_RECONNECT_PAUSE_MS = 3_000;
/** How much later than its deadline, or than its caller gave up, a call may end. */
const DEADLINE_PRECISION_MS = 50;
const SOCKET_FILE = 'unix://';
const LOCAL = { protocol: 'http:', host: 'localhost' };
const RECEIVE_BYTES = 64 * 1024;
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;

type Connection = Http2Connection<GrpcCall>;

/**
 * gRPC with one server over one HTTP/2 connection, which is opened when it is needed and again after it broke. Nothing is
 * ever sent twice: who calls decides. While a server cannot be reached, calls fail at once with the last reason, and a
 * new attempt is made after a growing pause.
 */
export class GrpcChannel {
  /** The one for new calls, and all that have not ended: after a GOAWAY the calls under way may finish. */
  #current: Connection | undefined;
  readonly #connections = new Set<Connection>();
  /** The headers of unary calls by their path: deadlines hardly ever differ. */
  readonly #unaryHeaders = new Map<string, { readonly timeoutMs: number; readonly block: Buffer }>();
  #deadlineTimer: NodeJS.Timeout | undefined;
  #nextConnect = 0;
  #pauseMs = FIRST_RECONNECT_PAUSE_MS;
  #lastFailure: Error | undefined;
  #nextCheck = 0;
  #closed = false;

  constructor(
    private readonly address: string,
    private readonly tls: TlsSource | undefined,
    private readonly keepalive = DEFAULT_KEEPALIVE,
  ) {}

  /**
   * Sends a message, resolves with the answer's. Rejects with a {@link GrpcError}, or with the signal's reason. The message
   * is copied.
   */
  unary(path: string, message: Uint8Array, timeoutMs: number, signal: Cancellation | undefined): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const connection = this.#connect();
      const call = new UnaryCall(performance.now() + timeoutMs, signal, resolve, reject);
      connection.open(call, this.#headersOf(path, timeoutMs));
      connection.send(call, [messagePrefix(message.length), message], true);
      this.#deadlineTimer ??= this.#startDeadlineTimer();
    });
  }

  /** Throws a {@link GrpcError} when there is no way to the server; later failures end the iteration with one. */
  open(path: string, metadata: Readonly<Record<string, string>>): GrpcStream {
    const connection = this.#connect();
    const call = new StreamCall();
    connection.open(call, this.#encodeHeaders(path, metadata));
    const cancel = (): void => {
      if (!call.isClosed) end(connection, call, new GrpcError(GrpcCode.unavailable, 'the call was cancelled'));
    };
    const leave = (): Promise<IteratorResult<readonly Buffer[], undefined>> => {
      cancel();
      return Promise.resolve({ done: true, value: undefined });
    };
    return {
      write: (message) => connection.send(call, [messagePrefix(message.length), message], false),
      cancel,
      [Symbol.asyncIterator]: () => ({ next: () => call.next(), return: leave }),
    };
  }

  /**
   * Asks the server for a sign of life, unless that was done a moment ago. If none comes the connection is broken, so that
   * all that goes over it fails.
   */
  checkAlive(): void {
    const now = performance.now();
    if (now < this.#nextCheck || this.#current?.isStarted !== true) return;
    this.#nextCheck = now + MIN_CHECK_PAUSE_MS;
    this.#current.ping(this.keepalive.timeoutMs);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#deadlineTimer);
    for (const connection of this.#connections) {
      connection.destroy(new GrpcError(GrpcCode.unavailable, 'the channel is closed'));
    }
  }

  #headersOf(path: string, timeoutMs: number): Buffer {
    const known = this.#unaryHeaders.get(path);
    if (known?.timeoutMs === timeoutMs) return known.block;
    const block = this.#encodeHeaders(path, { 'grpc-timeout': `${timeoutMs}m` });
    this.#unaryHeaders.set(path, { timeoutMs, block });
    return block;
  }

  #encodeHeaders(path: string, metadata: Readonly<Record<string, string>>): Buffer {
    const { protocol, host } = isSocketFile(this.address) ? LOCAL : new URL(this.address);
    return encodeHeaders({
      ':method': 'POST',
      ':scheme': protocol.slice(0, -1),
      ':path': path,
      ':authority': host,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...metadata,
    });
  }

  #connect(): Connection {
    if (this.#current !== undefined) return this.#current;
    if (this.#closed) throw new GrpcError(GrpcCode.unavailable, 'the channel is closed', true);
    if (performance.now() < this.#nextConnect) {
      const why = this.#lastFailure?.message ?? 'the connection broke';
      throw new GrpcError(GrpcCode.unavailable, why, true, { cause: this.#lastFailure });
    }
    const received = (chunk: Buffer): void => connection.receive(chunk);
    const { socket, connected } = isSocketFile(this.address)
      ? openPlain({ path: this.address.slice(SOCKET_FILE.length) }, received)
      : openSocket(new URL(this.address), this.tls, received);
    let pings: NodeJS.Timeout | undefined;
    const forget = (): void => {
      if (this.#current === connection) this.#current = undefined;
    };
    const connection: Connection = new Http2Connection<GrpcCall>(socket, {
      streamWindowBytes: STREAM_WINDOW_BYTES,
      connectionWindowBytes: CONNECTION_WINDOW_BYTES,
      onGoAway: forget,
      onClose: (error) => {
        clearTimeout(isSlow);
        clearInterval(pings);
        if (!connection.isStarted) this.#delayReconnect(error);
        this.#connections.delete(connection);
        forget();
      },
    });
    const isSlow = setTimeout(() => connection.destroy(new Error('the server did not answer')), CONNECT_TIMEOUT_MS);
    socket.once(connected, () => {
      clearTimeout(isSlow);
      this.#pauseMs = FIRST_RECONNECT_PAUSE_MS;
      const { intervalMs, timeoutMs } = this.keepalive;
      pings = setInterval(() => connection.ping(timeoutMs), intervalMs).unref();
      connection.start();
    });
    this.#connections.add(connection);
    this.#current = connection;
    return connection;
  }

  #delayReconnect(failure: Error): void {
    this.#lastFailure = failure;
    this.#nextConnect = performance.now() + this.#pauseMs;
    this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_RECONNECT_PAUSE_MS);
  }

  /** One timer for all calls, as long as there are some: setting and clearing one for each costs more than looking through. */
  #startDeadlineTimer(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#deadlineTimer = this.#endOverdue() ? this.#startDeadlineTimer() : undefined;
    }, DEADLINE_PRECISION_MS).unref();
  }

  /** Ends calls that are not waited for any more. Returns whether any calls with a deadline remain. */
  #endOverdue(): boolean {
    const now = performance.now();
    let remain = false;
    for (const connection of this.#connections) {
      for (const call of connection.streams()) {
        if (call.signal?.aborted === true) end(connection, call, call.signal.reason as Error);
        else if (call.deadline > now) remain ||= call.deadline < Infinity;
        else end(connection, call, new GrpcError(GrpcCode.deadlineExceeded, 'the deadline has passed'));
      }
    }
    return remain;
  }
}

function end(connection: Connection, call: GrpcCall, error: Error): void {
  connection.cancel(call);
  call.settle(error);
}

/** `unix:///path` */
function isSocketFile(address: string): boolean {
  return address.startsWith(SOCKET_FILE);
}

function openPlain(where: NetConnectOpts, received: (chunk: Buffer) => void): { socket: Socket; connected: string } {
  // One piece of memory for all that comes, and no events.
  const buffer = Buffer.allocUnsafeSlow(RECEIVE_BYTES);
  const callback = (bytes: number): boolean => {
    received(buffer.subarray(0, bytes));
    return true;
  };
  return { socket: connect({ ...where, onread: { buffer, callback } }), connected: 'connect' };
}

/** What is given to `received` is only there during the call. */
function openSocket(
  { protocol, hostname, port }: URL,
  tls: TlsSource | undefined,
  received: (chunk: Buffer) => void,
): { socket: Socket; connected: string } {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'http:') return openPlain({ host, port: Number(port || 80), noDelay: true }, received);
  if (protocol !== 'https:') throw new Error(`etcd is reached over http or https, not ${protocol}`);
  const { ca, key, certificate } = tlsFilesOf(tls);
  const socket = connectTls({
    host,
    port: Number(port || 443),
    ALPNProtocols: ['h2'],
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca && { ca }),
    ...(key && { key }),
    ...(certificate && { cert: certificate }),
  });
  socket.setNoDelay(true);
  socket.on('data', received);
  return { socket, connected: 'secureConnect' };
}
