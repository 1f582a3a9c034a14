import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import { systemRoots } from './system-roots';

/** A peer's side of a TLS connection, and ours; PEM texts. */
export interface PeerTls {
  /** Absent or empty: those that the system trusts. */
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  /** The name that the peer's certificate must have, where it is not the URL's host. */
  readonly serverName?: string;
  readonly insecure?: boolean;
}

/** A connection's options except for the context. */
export type PeerTlsOptions = Pick<AgentOptions, 'servername' | 'rejectUnauthorized'>;

export function peerTlsOptions({ serverName, insecure }: PeerTls): PeerTlsOptions {
  return {
    ...(serverName === undefined ? {} : { servername: serverName }),
    // Whatever the environment tells Node.js.
    rejectUnauthorized: insecure !== true,
  };
}

let systemContext: SecureContext | undefined;

/**
 * What all connections to a peer have in common. To be made once for all of them: to read a key and an authority takes a millisecond, to
 * read the system's authorities longer than a request.
 *
 * @throws when a text is not PEM of what it should be.
 */
export function secureContextOf({ certificateAuthority, clientCertificate, clientKey }: PeerTls): SecureContext {
  if (!certificateAuthority && clientCertificate === undefined) {
    return (systemContext ??= createSecureContext({ ca: systemRoots() }));
  }
  return createSecureContext({
    ca: certificateAuthority || systemRoots(),
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
    ...(clientKey === undefined ? {} : { key: clientKey }),
  });
}

/** Connections that are kept for the next request. What is wrong with the PEM texts, the first request is told. */
export function agentFor(tls: PeerTls): Agent {
  return new PeerAgent(tls);
}

type Connected = Parameters<Agent['createConnection']>[1];

class PeerAgent extends Agent {
  readonly #tls: PeerTls;
  #context: SecureContext | undefined;

  constructor(tls: PeerTls) {
    super({ keepAlive: true, ...peerTlsOptions(tls) });
    this.#tls = tls;
  }

  override createConnection(options: RequestOptions, done: Connected): Duplex | null | undefined {
    const connection = { ...options, secureContext: (this.#context ??= secureContextOf(this.#tls)) };
    return super.createConnection(connection, done);
  }
}
