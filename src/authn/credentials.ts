import type { X509Certificate } from 'node:crypto';
import type { MaybePromise } from '../api/maybe-promise';
import type { UserInfo } from '../api/user';

/** What a request carries that may prove who sent it. */
export interface Credentials {
  /** The token of `Authorization: Bearer`, or of the WebSocket subprotocol; undefined when there is none. */
  readonly bearerToken: string | undefined;
  /** The TLS client certificate, when one was shown. */
  readonly clientCertificate: ClientCertificate | undefined;
  /** For those whom a proxy speaks for; not to be believed by itself. */
  readonly headers: HeaderReader;
  /** The same object for all requests of a connection, to hang on it what need not be found out again. */
  readonly connection?: object;
}

/** Headers by lower-case name, with every value that was sent, in order. */
export interface HeaderReader {
  readonly names: () => readonly string[];
  readonly values: (name: string) => readonly string[];
}

export interface ClientCertificate {
  /** TLS found a valid chain to one of the authorities that the listener knows, for client use. */
  readonly trusted: boolean;
  /** The leaf, with the chain that was sent behind it. The same object for every request of a connection. */
  readonly leaf: X509Certificate;
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** What one way of finding out who asks has found. Undefined: these credentials are not of its kind. */
export type AuthenticationResult = Authenticated | Refused | undefined;

export interface Authenticated {
  readonly user: UserInfo;
  /** Of the audiences that were asked for, those that the credentials are meant for; absent: not known. */
  readonly audiences?: readonly string[];
  /** What the audit log is told besides, at every request that the result is used for. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** False once something that the result rests on has changed: it has to be found anew. Absent: nothing can tell. */
  readonly isCurrent?: () => boolean;
}

/** The credentials are of its kind and no good. Another way may still know the user. */
export interface Refused {
  /** For a TokenReview's status; never sent to the one who is refused. */
  readonly refused: string;
}

export type RequestAuthenticator = (credentials: Credentials) => MaybePromise<AuthenticationResult>;

/**
 * `audiences`: who wants to know; a token that is meant for none of them is refused. `connection`: that of the
 * credentials, when the token came with a request.
 */
export type TokenAuthenticator = (
  token: string,
  audiences: readonly string[],
  connection?: object,
) => MaybePromise<AuthenticationResult>;

/** Leaves a note for the audit log with the request that is being authenticated. */
export type Annotate = (key: string, value: string) => void;
