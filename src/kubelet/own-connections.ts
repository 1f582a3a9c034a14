import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { hostPortOf, type Backend } from './backend';
import { withoutCertificate } from './session-certificate';

/** Of as many backends, a few kilobytes each. */
const MAX_SESSIONS = 1_000;

/**
 * Connections that serve one request each. They resume the TLS session of an earlier one to the same place, which spares both sides a
 * handshake's signatures, and each connection its own copy of the peer's certificates. An agent of node:http would do that, too, but its
 * listeners and options stay with a connection that has become a stream.
 *
 * `options` are the same for all of them: whoever demands a verified certificate must not resume the session of one who did not.
 */
export class OwnConnections {
  readonly #sessions = new LRUCache<string, Buffer>({ max: MAX_SESSIONS });

  constructor(private readonly options: ConnectionOptions) {}

  connect(backend: Backend): Socket {
    const { scheme, host, port } = backend;
    const { lookup } = this.options;
    if (scheme === 'http') return connectTcp({ host, port, ...(lookup && { lookup }) });
    const place = hostPortOf(backend);
    const session = this.#sessions.get(place);
    const socket = connectTls({
      ...this.options,
      host,
      port,
      servername: serverName(host),
      ...(session && { session }),
    });
    const keep = (latest: Buffer): void => void this.#sessions.set(place, withoutCertificate(latest));
    const forget = (): void => void this.#sessions.delete(place);
    socket.once('session', keep).once('error', forget);
    socket.once('secureConnect', () => {
      socket.off('error', forget);
      // It goes on being resumed, and each stream's listener would be kept for a session that may never come.
      if (socket.isSessionReused()) socket.off('session', keep);
    });
    return socket;
  }
}

/** What a backend is to be named as: never by its address. */
export function serverName(host: string): string {
  return isIP(host) === 0 ? host : '';
}
