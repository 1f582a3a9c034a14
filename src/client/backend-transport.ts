import { createHash } from 'node:crypto';
import { Agent, request as httpsRequest, type AgentOptions, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { limitInformational } from './informational-limit';
import type { RecordClientCall } from './rest-client-metrics';
import { describeNetworkError } from './network-error';
import { peerTlsOptions, secureContextOf, type PeerTls } from './peer-tls';

/** Where a connection leads. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A backend that is called over HTTPS, and how each side knows the other. */
export interface Backend {
  /** `https://host:port`: what it is called, and where it is unless `dial` says otherwise. */
  readonly origin: string;
  /** No authority: the system's. */
  readonly tls: PeerTls;
  /** Asked for each new connection. Throws an Error that says why there is no way. */
  readonly dial?: () => Address | Promise<Address>;
}

export interface BackendRequest {
  /** With its query, from the slash on. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** In pieces. */
  readonly body?: readonly Uint8Array[];
  /** For the whole answer. */
  readonly timeoutMs: number;
  /** The response is not waited for any more. */
  readonly signal: AbortSignal;
  /** An answer with a longer body is none. */
  readonly maxBytes: number;
}

export interface BackendResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Go's clients keep idle connections as long. */
const IDLE_MS = 90_000;
const MAX_IDLE_PER_BACKEND = 25;
/** Backends whose connections are kept. */
const MAX_POOLS = 256;

/** A pool of connections that may not be used for another backend, or with other credentials. */
interface Pool {
  readonly agent: Agent;
  /** Requests under way. */
  active: number;
  /** Others have taken its place: it ends with its last request. */
  retired: boolean;
}

type Connected = (error: Error | null, stream: Duplex) => void;

/** Connects to where `dial` leads. */
class DialingAgent extends Agent {
  constructor(
    options: AgentOptions,
    private readonly dial: () => Address | Promise<Address>,
  ) {
    super(options);
  }

  /** Nothing is returned: Node.js waits for the callback then. */
  override createConnection(options: RequestOptions, done?: Connected): undefined {
    const connect = async (): Promise<Duplex | null | undefined> => {
      const { host, port } = await this.dial();
      return super.createConnection({ ...options, host, port });
    };
    connect().then(
      (stream) => done?.(null, stream as Duplex),
      (error: unknown) => done?.(error as Error, undefined as unknown as Duplex),
    );
  }
}

/**
 * Calls backends that the server does not know and does not trust further than it must: webhooks, other API servers. Connections are
 * kept and shared by all who call the same backend in the same way. HTTP/1.1 only, as kube-apiserver does it: over HTTP/2 all calls of a
 * service would go to the one replica that has the connection. Redirects are not followed.
 */
export class BackendTransport {
  readonly #pools = new Map<string, Pool>();
  readonly #open = new Set<Pool>();

  /** `record` is told of every request. */
  constructor(private readonly record?: RecordClientCall) {}

  /** One request and its whole answer. Rejects when there is none in time, in the words of Go's clients. */
  async request(backend: Backend, call: BackendRequest): Promise<BackendResponse> {
    const pool = this.#pool(backend);
    pool.active += 1;
    const startedMs = performance.now();
    const tell = (code: number | '<error>'): void =>
      this.record?.({
        host: new URL(backend.origin).host,
        method: call.method,
        code,
        durationSeconds: (performance.now() - startedMs) / 1000,
      });
    try {
      const response = await send(pool.agent, backend.origin, call);
      tell(response.status);
      return response;
    } catch (error) {
      tell('<error>');
      throw error;
    } finally {
      pool.active -= 1;
      if (pool.retired) this.#end(pool);
    }
  }

  /** Ends all connections, also those in use. */
  close(): void {
    for (const pool of this.#open) pool.agent.destroy();
    this.#open.clear();
    this.#pools.clear();
  }

  #pool(backend: Backend): Pool {
    const key = poolKey(backend);
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = { agent: agentOf(backend), active: 0, retired: false };
      this.#open.add(pool);
      if (this.#pools.size >= MAX_POOLS) this.#retireOldest();
    } else {
      // The one that was used last stands last.
      this.#pools.delete(key);
    }
    this.#pools.set(key, pool);
    return pool;
  }

  #retireOldest(): void {
    const [oldest] = this.#pools;
    if (oldest === undefined) return;
    const [key, pool] = oldest;
    this.#pools.delete(key);
    pool.retired = true;
    this.#end(pool);
  }

  #end(pool: Pool): void {
    if (pool.active > 0) return;
    pool.agent.destroy();
    this.#open.delete(pool);
  }
}

function poolKey({ origin, tls, dial }: Backend): string {
  const { certificateAuthority, clientCertificate, clientKey, serverName, insecure } = tls;
  const parts = [certificateAuthority, clientCertificate, clientKey, serverName, insecure, dial !== undefined];
  return `${origin} ${createHash('sha256').update(JSON.stringify(parts)).digest('base64')}`;
}

function agentOf({ tls, dial }: Backend): Agent {
  const options = {
    keepAlive: true,
    maxFreeSockets: MAX_IDLE_PER_BACKEND,
    // Only idle connections are ended by it.
    timeout: IDLE_MS,
    secureContext: secureContextOf(tls),
    ALPNProtocols: ['http/1.1'],
    ...peerTlsOptions(tls),
  };
  return dial === undefined ? new Agent(options) : new DialingAgent(options, dial);
}

function send(agent: Agent, origin: string, call: BackendRequest): Promise<BackendResponse> {
  const { path, method, headers, body = [], timeoutMs, signal, maxBytes } = call;
  const url = new URL(origin);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const verb = method === 'GET' ? 'Get' : 'Post';
      finish();
      reject(new Error(`${verb} ${JSON.stringify(origin + path)}: ${describeNetworkError(error)}`, { cause: error }));
    };
    const request = httpsRequest(
      {
        agent,
        // Brackets are the URL's, not the address's.
        hostname: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port || 443,
        path,
        method,
        headers: { ...headers, ...(method === 'GET' ? {} : { 'Content-Length': lengthOf(body) }) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > maxBytes) request.destroy(new Error(`the answer is longer than ${maxBytes} bytes`));
          else chunks.push(chunk);
        });
        response.on('error', fail);
        response.on('end', () => {
          finish();
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? '',
            body: Buffer.concat(chunks, size),
          });
        });
      },
    );
    const expire = (): void => void request.destroy(new Error('context deadline exceeded'));
    const abort = (): void => void request.destroy(new Error('context canceled'));
    const timer = setTimeout(expire, timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    // HTTP/1.1 keeps connections without being told.
    request.removeHeader('Connection');
    limitInformational(request);
    request.on('error', fail);
    for (const piece of body) request.write(piece);
    request.end();
    if (signal.aborted) abort();
  });
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((length, piece) => length + piece.length, 0);
}
