import type { EventEmitter } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session, type Settings } from 'node:http2';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { hostPortOf, originOf, type Backend } from './backend';
import { IDLE_MS, KEEP_ALIVE_MS, MAX_HEADER_BYTES } from './connection-limits';
import { dialTimeout } from './dial-limit';
import { serverName } from './own-connections';

/**
 * Requests at once on one connection: what either side may take for granted before it has been told, and few enough to end in one turn of
 * the loop when the connection breaks.
 */
const MOST_REQUESTS = 100;
/** What is sent ahead for a body that nobody reads: as much as may wait for its reader beside it. With half of it a long log takes a third longer. */
const WINDOW_BYTES = 128 * 1024;
/** For all bodies of a connection: Node.js opens it again for what has come, read or not. */
const CONNECTION_WINDOW_BYTES = 1024 * 1024;
const SETTINGS = { enablePush: false, maxHeaderListSize: MAX_HEADER_BYTES, initialWindowSize: WINDOW_BYTES };
/** Places that turned out to speak HTTP/1.1 only, and for how long that is believed. */
const MAX_OTHERS = 1_000;
const OTHERS_MS = 10 * 60_000;

/** A request's place on a connection. */
export interface Http2Place {
  readonly session: ClientHttp2Session;
  /** The connection has served others before: it may have been closed by the other end just now. */
  readonly isReused: boolean;
  /** To be called once, when the request is over. */
  readonly leave: () => void;
}

export interface Http2ConnectionsOptions {
  readonly connection: ConnectionOptions;
  /** For making a connection, until the other end has told its settings, in milliseconds. */
  readonly dialTimeoutMs: number;
}

/**
 * Connections that many requests to a place share at once. `options` are the same for all of them: whoever demands a verified certificate
 * must not use the connection of one who did not.
 */
export class Http2Connections {
  readonly #open = new Map<string, Set<SharedConnection>>();
  readonly #others = new LRUCache<string, true>({ max: MAX_OTHERS, ttl: OTHERS_MS });

  constructor(private readonly options: Http2ConnectionsOptions) {}

  /** Rejects when no connection can be made; undefined: it would speak HTTP/1.1. */
  async enter(backend: Backend): Promise<Http2Place | undefined> {
    const place = hostPortOf(backend);
    while (!this.#others.has(place)) {
      const connection = this.#withRoom(backend, place);
      connection.enter();
      const isReused = connection.session !== undefined;
      let session: ClientHttp2Session | undefined;
      try {
        session = connection.session ?? (await connection.ready);
      } catch (error) {
        connection.leave();
        throw error;
      }
      if (session !== undefined && connection.hasRoomForAll) return { session, isReused, leave: connection.leave };
      // Or its settings allow less than was taken for granted.
      connection.leave();
      if (session === undefined) this.#others.set(place, true);
    }
    return undefined;
  }

  /** Ends connections that have nothing to do, and others with their last request. */
  close(): void {
    for (const connections of this.#open.values()) for (const connection of connections) connection.retire();
    this.#open.clear();
  }

  #withRoom(backend: Backend, place: string): SharedConnection {
    const all = this.#open.get(place) ?? new Set();
    let most = MOST_REQUESTS;
    for (const connection of all) {
      if (connection.hasRoom) return connection;
      most = Math.min(most, connection.most);
    }
    const connection = new SharedConnection(backend, this.options, most, () => {
      all.delete(connection);
      if (all.size === 0 && this.#open.get(place) === all) this.#open.delete(place);
    });
    this.#open.set(place, all.add(connection));
    return connection;
  }
}

/** One connection, from the moment on that it is wanted. */
class SharedConnection {
  readonly ready: Promise<ClientHttp2Session | undefined>;
  session: ClientHttp2Session | undefined;
  #requests = 0;
  #isRetired = false;
  #idle: NodeJS.Timeout | undefined;

  /** `most`: requests at once, until its settings say so. `onRetired`: no request may use it from now on. */
  constructor(
    backend: Backend,
    options: Http2ConnectionsOptions,
    public most: number,
    private readonly onRetired: () => void,
  ) {
    this.ready = this.#dial(backend, options);
    this.ready.then((session) => session ?? this.retire(), this.retire);
  }

  get hasRoom(): boolean {
    return this.#requests < this.most;
  }

  get hasRoomForAll(): boolean {
    return this.#requests <= this.most;
  }

  enter(): void {
    this.#requests += 1;
    clearTimeout(this.#idle);
  }

  readonly leave = (): void => {
    this.#requests -= 1;
    if (this.#requests > 0) return;
    if (this.#isRetired) this.session?.close();
    else this.#idle = setTimeout(this.retire, IDLE_MS).unref();
  };

  /** It ends with its last request. */
  readonly retire = (): void => {
    if (this.#isRetired) return;
    this.#isRetired = true;
    clearTimeout(this.#idle);
    this.onRetired();
    if (this.#requests === 0) this.session?.close();
  };

  async #dial(backend: Backend, options: Http2ConnectionsOptions): Promise<ClientHttp2Session | undefined> {
    const { host, port } = backend;
    const socket = connectTls({
      ...options.connection,
      host,
      port,
      servername: serverName(host),
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    // One that has vanished is noticed, however long nothing is to be said.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    const timer = setTimeout(() => socket.destroy(dialTimeout()), options.dialTimeoutMs);
    try {
      await first(socket, 'secureConnect');
      if (socket.alpnProtocol !== 'h2') {
        socket.destroy();
        return undefined;
      }
      const session = connectHttp2(originOf(backend), { createConnection: () => socket, settings: SETTINGS });
      session.on('remoteSettings', ({ maxConcurrentStreams = MOST_REQUESTS }: Settings) => {
        // Where none is allowed for the moment, one waits for that to change.
        this.most = Math.max(1, Math.min(MOST_REQUESTS, maxConcurrentStreams));
      });
      session.on('goaway', this.retire).on('close', this.retire);
      session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
      await first(session, 'remoteSettings');
      this.session = session;
      return session;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Resolves with an event. Rejects when an error comes first, or the end. What breaks the source later is told to those who use it. */
function first(source: TLSSocket | ClientHttp2Session, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const emitter: EventEmitter = source;
    emitter
      .once(event, resolve)
      .on('error', reject)
      .once('close', () => reject(connectionReset()));
  });
}

export function connectionReset(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
}
