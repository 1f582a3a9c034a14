import { divertConnections } from '../transport/divert-connections';
import type { Server as TlsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { ErrorCode } from '../../http2/http2-error';
import { goAwayFrame, settingsFrame } from '../../http2/frames';
import { endAndLinger } from '../transport/linger';
import { isProhibitedForHttp2 } from './cipher-rules';
import { Http2ServerConnection, type ConnectionOptions } from './server-connection';

/** What a listener offers a client by ALPN, the best first. */
export const ALPN_PROTOCOLS = ['h2', 'http/1.1'];

/** How late the deadlines of connections may be. */
const SWEEP_MS = 1_000;

/** The connections of clients that chose HTTP/2. */
export class Http2Listener {
  readonly #connections = new Set<Http2ServerConnection>();
  #sweeps: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(private readonly options: Omit<ConnectionOptions, 'onClose'>) {}

  /** Takes those connections of the server; the others stay with it. */
  attach(server: TlsServer): void {
    divertConnections(server, 'secureConnection', (socket: TLSSocket, pass) => {
      if (socket.alpnProtocol === 'h2') this.#accept(socket);
      else pass();
    });
  }

  /** Every client is told to leave, also those that come from now on; connections end with their last answer. */
  drain(): void {
    this.#isDraining = true;
    for (const connection of this.#connections) connection.drain();
  }

  /** Ends all connections at once. */
  destroy(): void {
    for (const connection of [...this.#connections]) connection.destroy();
  }

  #accept(socket: TLSSocket): void {
    if (isProhibitedForHttp2(socket)) {
      socket.on('error', ignore);
      return endAndLinger(socket, Buffer.concat([settingsFrame([]), goAwayFrame(0, ErrorCode.INADEQUATE_SECURITY)]));
    }
    const connection = new Http2ServerConnection(socket, {
      ...this.options,
      onClose: () => this.#forget(connection),
    });
    this.#connections.add(connection);
    this.#sweeps ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    if (this.#isDraining) connection.drain();
  }

  #forget(connection: Http2ServerConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    clearInterval(this.#sweeps);
    this.#sweeps = undefined;
  }

  #sweep(): void {
    const now = performance.now();
    for (const connection of this.#connections) connection.sweep(now);
  }
}

/** A socket that failed closes, which says enough. */
function ignore(): void {}
