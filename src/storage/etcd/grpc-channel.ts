import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import { MessageReader, frame } from './grpc-frames';

/** Contents of PEM files: the authority that signed the servers' certificates, and our own key and certificate. */
export interface TlsFiles {
  readonly ca?: Buffer;
  readonly key?: Buffer;
  readonly certificate?: Buffer;
}

/** The codes of gRPC that the store tells apart. */
export const GrpcCode = {
  ok: 0,
  unknown: 2,
  deadlineExceeded: 4,
  permissionDenied: 7,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** A call that failed: by the server's word, or because there was no way to it. */
export class GrpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    /** True when the server has certainly not seen the call. */
    readonly isUnsent: boolean = false,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'GrpcError';
  }
}

/** A call in both directions. What arrives together is given together. */
export interface GrpcStream extends AsyncIterable<readonly Buffer[]> {
  write(message: Uint8Array): void;
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
const DEFAULT_KEEPALIVE: Keepalive = { intervalMs: 30_000, timeoutMs: 10_000 };
const MIN_CHECK_PAUSE_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
const FIRST_RECONNECT_PAUSE_MS = 100;
const MAX_RECONNECT_PAUSE_MS = 3_000;
/** How much the server may send ahead: on one stream, and on the connection. */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;

const CALL_HEADERS = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' } as const;

interface Connection {
  readonly session: ClientHttp2Session;
  isConnected: boolean;
  /** Why it broke. */
  failure: Error | undefined;
}

/**
 * gRPC with one server over one HTTP/2 connection, which is opened when it is needed and again after it broke. Nothing is
 * ever sent twice: who calls decides. While a server cannot be reached, calls fail at once with the last reason, and a
 * new attempt is made after a growing pause.
 */
export class GrpcChannel {
  #connection: Connection | undefined;
  #nextConnect = 0;
  #pauseMs = FIRST_RECONNECT_PAUSE_MS;
  #lastFailure: Error | undefined;
  #nextCheck = 0;
  #closed = false;

  constructor(
    private readonly address: string,
    private readonly tls: TlsFiles | undefined,
    private readonly keepalive = DEFAULT_KEEPALIVE,
  ) {}

  /** Sends a message, resolves with the answer's. Rejects with a {@link GrpcError}, or with the signal's reason. */
  unary(path: string, message: Uint8Array, timeoutMs: number, signal: AbortSignal | undefined): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const connection = this.#connect();
      const stream = connection.session.request({
        ...CALL_HEADERS,
        ':path': path,
        'grpc-timeout': `${timeoutMs}m`,
      });
      const status = new CallStatus();
      let answer: Buffer | undefined;
      const expired = (): void => stop(new GrpcError(GrpcCode.deadlineExceeded, 'the deadline has passed'));
      const aborted = (): void => stop(signal?.reason as Error);
      const timer = setTimeout(expired, timeoutMs);
      signal?.addEventListener('abort', aborted, { once: true });

      const stop = (error: Error): void => {
        reject(error);
        stream.close(constants.NGHTTP2_CANCEL);
      };
      stream.on('response', (headers: IncomingHttpHeaders) => status.read(headers));
      stream.on('trailers', (headers: IncomingHttpHeaders) => status.read(headers));
      readMessages(stream, (messages) => {
        answer = messages.at(-1) ?? answer;
      });
      stream.on('error', (error: Error) => status.fail(error));
      stream.on('close', () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
        const error = status.error(connection, stream);
        if (error !== undefined) reject(error);
        else if (answer === undefined) reject(new GrpcError(GrpcCode.internal, 'the answer has no message'));
        else resolve(answer);
      });
      stream.end(frame(message));
    });
  }

  /** Throws a {@link GrpcError} when there is no way to the server; later failures end the iteration with one. */
  open(path: string, metadata: Readonly<Record<string, string>>): GrpcStream {
    const connection = this.#connect();
    const stream = connection.session.request({ ...CALL_HEADERS, ...metadata, ':path': path });
    const status = new CallStatus();
    stream.on('response', (headers: IncomingHttpHeaders) => status.read(headers));
    stream.on('trailers', (headers: IncomingHttpHeaders) => status.read(headers));
    stream.on('error', (error: Error) => status.fail(error));
    return {
      write: (message) => void (stream.writable && stream.write(frame(message))),
      cancel: () => stream.close(constants.NGHTTP2_CANCEL),
      [Symbol.asyncIterator]: () => messagesOf(stream, () => status.error(connection, stream)),
    };
  }

  /**
   * Asks the server for a sign of life, unless that was done a moment ago. If none comes the connection is broken, so that
   * all that goes over it fails.
   */
  checkAlive(): void {
    const now = performance.now();
    if (now < this.#nextCheck || this.#connection?.isConnected !== true) return;
    this.#nextCheck = now + MIN_CHECK_PAUSE_MS;
    ping(this.#connection.session, this.keepalive.timeoutMs);
  }

  close(): void {
    this.#closed = true;
    this.#connection?.session.destroy(new GrpcError(GrpcCode.unavailable, 'the channel is closed'));
  }

  #connect(): Connection {
    if (this.#connection !== undefined) return this.#connection;
    if (this.#closed) throw new GrpcError(GrpcCode.unavailable, 'the channel is closed', true);
    if (performance.now() < this.#nextConnect) {
      const why = this.#lastFailure?.message ?? 'the connection broke';
      throw new GrpcError(GrpcCode.unavailable, why, true, { cause: this.#lastFailure });
    }
    const { ca, key, certificate } = this.tls ?? {};
    const session = connect(this.address, {
      settings: { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false },
      ...(ca && { ca }),
      ...(key && { key }),
      ...(certificate && { cert: certificate }),
    });
    const connection: Connection = { session, isConnected: false, failure: undefined };
    this.#connection = connection;
    this.#watch(connection);
    return connection;
  }

  #watch(connection: Connection): void {
    const { session } = connection;
    const isSlow = setTimeout(() => session.destroy(new Error('the server did not answer')), CONNECT_TIMEOUT_MS);
    let pings: NodeJS.Timeout | undefined;
    session.once('connect', () => {
      connection.isConnected = true;
      clearTimeout(isSlow);
      session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
      this.#pauseMs = FIRST_RECONNECT_PAUSE_MS;
      pings = setInterval(() => ping(session, this.keepalive.timeoutMs), this.keepalive.intervalMs);
      pings.unref();
    });
    session.on('error', (error: Error) => {
      connection.failure = error;
    });
    // The streams that are open may finish; new calls need another connection.
    session.once('goaway', () => this.#forget(connection));
    session.once('close', () => {
      clearTimeout(isSlow);
      clearInterval(pings);
      if (!connection.isConnected) this.#delayReconnect(connection.failure);
      this.#forget(connection);
    });
  }

  #delayReconnect(failure: Error | undefined): void {
    this.#lastFailure = failure;
    this.#nextConnect = performance.now() + this.#pauseMs;
    this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_RECONNECT_PAUSE_MS);
  }

  #forget(connection: Connection): void {
    if (this.#connection === connection) this.#connection = undefined;
  }
}

/** Ends a connection whose other side has gone without a word. */
function ping(session: ClientHttp2Session, timeoutMs: number): void {
  if (session.destroyed) return;
  let isAnswered = false;
  const expired = (): void => {
    if (!isAnswered) session.destroy(new Error('the server does not answer pings'));
  };
  // After a long turn of the loop the timer comes first, and what has arrived meanwhile is read before the immediate.
  const timer = setTimeout(() => setImmediate(expired), timeoutMs);
  timer.unref();
  session.ping(() => {
    isAnswered = true;
    clearTimeout(timer);
  });
}

/** How a call ended: the server's status, or why none came. */
class CallStatus {
  #failure: Error | undefined;
  #code: number | undefined;
  #message = '';
  #httpStatus: number | undefined;

  /** From headers or trailers: a call that fails at once has its status in the former. */
  read(headers: IncomingHttpHeaders): void {
    if (headers[':status'] !== undefined) this.#httpStatus = Number(headers[':status']);
    const code = headers['grpc-status'];
    if (code === undefined) return;
    this.#code = Number(code);
    this.#message = decodeMessage(headers['grpc-message']);
  }

  fail(error: Error): void {
    this.#failure = error;
  }

  /** Undefined when the call went well. */
  error({ isConnected, failure }: Connection, { rstCode }: ClientHttp2Stream): GrpcError | undefined {
    if (this.#code === GrpcCode.ok) return undefined;
    if (this.#code !== undefined) return new GrpcError(this.#code, this.#message);
    const cause = this.#failure ?? failure;
    const why = failure?.message ?? cause?.message ?? `the stream ended (HTTP status ${this.#httpStatus ?? 'unknown'})`;
    const isUnsent = !isConnected || rstCode === constants.NGHTTP2_REFUSED_STREAM;
    return new GrpcError(GrpcCode.unavailable, why, isUnsent, { cause });
  }
}

/** Ends the stream with an error when what arrives is no gRPC. */
function readMessages(stream: ClientHttp2Stream, take: (messages: readonly Buffer[]) => void): void {
  const reader = new MessageReader();
  stream.on('data', (chunk: Buffer) => {
    try {
      const messages = reader.push(chunk);
      if (messages.length > 0) take(messages);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
}

/** gRPC percent-encodes what is not printable. */
function decodeMessage(text: unknown): string {
  if (typeof text !== 'string') return '';
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Ends when the call ends well or is cancelled; throws what `failure` says otherwise. */
async function* messagesOf(
  stream: ClientHttp2Stream,
  failure: () => GrpcError | undefined,
): AsyncGenerator<readonly Buffer[], void> {
  let arrived: Buffer[] = [];
  let wake: () => void = () => undefined;
  readMessages(stream, (messages) => {
    // What comes in one turn of the loop comes in several pieces; whoever follows is to hear of it once.
    if (arrived.length === 0) setImmediate(() => wake());
    arrived.push(...messages);
  });
  stream.on('close', () => wake());
  try {
    for (;;) {
      if (arrived.length > 0) {
        const messages = arrived;
        arrived = [];
        yield messages;
      } else if (stream.closed) {
        const error = failure();
        if (error !== undefined) throw error;
        return;
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
  } finally {
    stream.close(constants.NGHTTP2_CANCEL);
  }
}
