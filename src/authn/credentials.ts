import type { UserInfo } from '../api/user';

/** What a request carries that may prove who sent it. */
export interface Credentials {
  /** The token of `Authorization: Bearer`, or of the WebSocket subprotocol; undefined when there is none. */
  readonly bearerToken: string | undefined;
  /** The TLS client certificate, when one was shown. */
  readonly clientCertificate: ClientCertificate | undefined;
}

export interface ClientCertificate {
  /** The chain leads to the client CA and the certificate is valid now. */
  readonly trusted: boolean;
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/**
 * One way of finding out who asks. Undefined: these credentials are not of this kind. Throws a 401 StatusError when they
 * are of this kind and are refused.
 */
export type Authenticator = (credentials: Credentials) => Promise<UserInfo | undefined>;
