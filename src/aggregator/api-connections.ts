import type { ClientRequest } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { peerTlsOptions, secureContextOf, type PeerTls } from '../client/peer-tls';
import type { Backend } from '../kubelet/backend';
import type { BackendRequest } from '../kubelet/backend-connections';
import { limitDial } from '../kubelet/dial-limit';

const MAX_IDLE = 16;
const IDLE_MS = 90_000;
const DIAL_TIMEOUT_MS = 10_000;
/** Of heads that the other server answers with. */
const MAX_HEADER_BYTES = 64 * 1024;

/** The connections to one other API server, used for no other. */
export class ApiConnections {
  #agent: Agent | undefined;
  #tls: PeerTls | undefined;
  #connection: ConnectionOptions = {};

  /** `tls` is asked for each request: the certificate that is shown may have been replaced. */
  constructor(private readonly tls: () => PeerTls) {}

  readonly open = (
    { host, port }: Backend,
    { method, path, headers, ownConnection }: BackendRequest,
  ): ClientRequest => {
    const agent = this.#current();
    const connection = this.#connection;
    const request = httpsRequest({
      host,
      port,
      method,
      path,
      headers,
      setHost: false,
      servername: connection.servername ?? '',
      maxHeaderSize: MAX_HEADER_BYTES,
      ...(ownConnection ? { createConnection: () => connect({ ...connection, host, port }) } : { agent }),
    });
    // HTTP/1.1 keeps connections without being told, and others end after their only answer.
    if (!('connection' in headers)) request.removeHeader('Connection');
    request.once('socket', (socket: Socket) => limitDial(socket, true, DIAL_TIMEOUT_MS));
    return request;
  };

  /** Ends connections that have nothing to do; those of requests under way end with them. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #current(): Agent {
    const tls = this.tls();
    if (this.#agent !== undefined && this.#tls === tls) return this.#agent;
    this.close();
    this.#tls = tls;
    this.#connection = {
      secureContext: secureContextOf(tls),
      ALPNProtocols: ['http/1.1'],
      ...peerTlsOptions(tls),
    };
    this.#agent = new Agent({ ...this.#connection, keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS });
    return this.#agent;
  }
}
