import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type OutgoingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext, type ConnectionOptions } from 'node:tls';
import type { KubeObject } from '../api/object';
import type { Backend, Trust } from './backend';
import { IDLE_MS, KEEP_ALIVE_MS, MAX_HEADER_BYTES } from './connection-limits';
import { limitDial } from './dial-limit';
import { Http2Connections } from './http2-connections';
import { PacedEnds } from '../async/paced-ends';
import { DEFAULT_OPTIONS, type KubeletOptions, type KubeletTls } from './kubelet-options';
import { kubeletEndpointOf } from './node-endpoint';
import { OwnConnections, serverName } from './own-connections';
import { lookupProxyable } from './proxyable-address';

export interface BackendRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Complete: nothing is added but what frames the body. */
  readonly headers: OutgoingHttpHeaders;
  /** The connection is for this request alone, as one that is upgraded, or one whose request cannot be sent twice. */
  readonly ownConnection: boolean;
}

/** Idle connections that are kept to each backend. */
const MAX_IDLE_PER_BACKEND = 4;

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Begins a request to a backend, whose body is for the caller to send. */
export type OpenRequest = (backend: Backend, request: BackendRequest) => ClientRequest;

/** What passes requests on to backends. */
export interface RequestOpener {
  readonly open: OpenRequest;
  /** The lower-case name of a header that backends do not get to see. */
  readonly isPrivateHeader: (name: string) => boolean;
}

interface ConnectionsOfTrust {
  readonly shared: Agents;
  readonly own: OwnConnections;
  readonly http2: Http2Connections;
}

/** The connections to kubelets, and to what pods and services offer. Those that have nothing to do are used again. */
export class BackendConnections implements RequestOpener {
  readonly #connections = new Map<Trust, ConnectionsOfTrust>();
  readonly #ends = new PacedEnds();
  #tls: KubeletTls;

  constructor(private readonly options: KubeletOptions = DEFAULT_OPTIONS) {
    this.#tls = options.tls();
  }

  /** The lower-case name of a header in which a trusted proxy says who asks. */
  readonly isPrivateHeader = (name: string): boolean => this.options.isPrivateHeader(name);

  /** Throws a 500 for a node without an address. */
  kubeletOf(node: KubeObject): Backend {
    const { host, port } = kubeletEndpointOf(node, this.options.preferredAddressTypes);
    return { scheme: 'https', host, port, trust: 'kubelet' };
  }

  /** The request, whose body is for the caller to send. It ends with the connection. */
  open(backend: Backend, { method, path, headers, ownConnection }: BackendRequest): ClientRequest {
    const { scheme, host, port, trust } = backend;
    const { own, shared } = this.#connectionsFor(trust);
    const send = scheme === 'https' ? httpsRequest : httpRequest;
    const request = send({
      host,
      port,
      method,
      path,
      headers,
      setHost: false,
      // Node would take the name to verify from the Host header, which is the client's.
      servername: serverName(host),
      maxHeaderSize: MAX_HEADER_BYTES,
      ...(ownConnection ? { createConnection: () => own.connect(backend) } : { agent: shared[scheme] }),
    });
    // HTTP/1.1 keeps connections without being told, and others end after their only answer.
    if (!('connection' in headers)) request.removeHeader('Connection');
    request.once('socket', (socket: Socket) => {
      if (!request.reusedSocket) this.#ends.pace(socket);
      // One that has vanished is noticed, however long nothing is to be said.
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      socket.setNoDelay(true);
      limitDial(socket, scheme === 'https', this.options.dialTimeoutMs);
    });
    return request;
  }

  /** Those that many requests share at once. */
  http2With(trust: Trust): Http2Connections {
    return this.#connectionsFor(trust).http2;
  }

  /** Ends connections that have nothing to do; those of requests under way end with them. */
  close(): void {
    // Those of their own never have nothing to do.
    for (const { shared, http2 } of this.#connections.values()) {
      shared.http.destroy();
      shared.https.destroy();
      http2.close();
    }
    this.#connections.clear();
  }

  #connectionsFor(trust: Trust): ConnectionsOfTrust {
    const tls = this.options.tls();
    if (tls !== this.#tls) {
      // Connections that show the certificate of before are not used again.
      this.#tls = tls;
      this.close();
    }
    let connections = this.#connections.get(trust);
    if (connections === undefined) {
      const connection = this.#connectionOptions(trust);
      const options = {
        ...connection,
        keepAlive: true,
        keepAliveMsecs: KEEP_ALIVE_MS,
        maxFreeSockets: MAX_IDLE_PER_BACKEND,
        timeout: IDLE_MS,
      };
      connections = {
        shared: { http: new HttpAgent(options), https: new HttpsAgent(options) },
        own: new OwnConnections(connection),
        http2: new Http2Connections({ connection, dialTimeoutMs: this.options.dialTimeoutMs }),
      };
      this.#connections.set(trust, connections);
    }
    return connections;
  }

  #connectionOptions(trust: Trust): ConnectionOptions {
    if (trust === 'anybody') {
      return { secureContext: createSecureContext(), rejectUnauthorized: false, lookup: lookupProxyable };
    }
    const { certificateAuthority, clientCertificate, clientKey } = this.#tls;
    return {
      // One for all connections: each would take as much memory as the connection itself.
      secureContext: createSecureContext({
        ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
        ...(clientKey === undefined ? {} : { key: clientKey }),
        ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
      }),
      rejectUnauthorized: trust === 'kubelet' && certificateAuthority !== undefined,
    };
  }
}
