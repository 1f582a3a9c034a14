import { TLSSocket } from 'node:tls';
import type { HttpRequest } from '../transport/exchange';
import type { ClientCertificate, Credentials } from '../../authn/credentials';
import { headerText } from '../request/header-text';

/** A connection shows its certificate once; requests that share the connection share what was read from it. */
const certificates = new WeakMap<TLSSocket, ClientCertificate | 'none'>();

/** What the request carries that may prove who sent it. */
export function credentialsOf(request: HttpRequest): Credentials {
  return {
    bearerToken: bearerTokenOf(request),
    connection: request.socket,
    clientCertificate: clientCertificateOf(request),
    headers: {
      names: () => Object.keys(request.headersDistinct),
      values: (name) => (request.headersDistinct[name] ?? []).map(headerText),
    },
  };
}

const WEBSOCKET_TOKEN_PREFIX = 'base64url.bearer.authorization.k8s.io.';

/** The scheme is read without regard to case, what follows the token is ignored, and other schemes are no token. */
function bearerTokenOf({ headers }: HttpRequest): string | undefined {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const text = authorization.trim();
    const start = text.indexOf(' ') + 1;
    const end = text.indexOf(' ', start);
    const token = start === 0 ? '' : text.slice(start, end < 0 ? text.length : end);
    if (token !== '' && text.slice(0, start - 1).toLowerCase() === 'bearer') return token;
  }
  const protocols = headers['sec-websocket-protocol'];
  if (protocols === undefined || headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const offered = protocols.split(',').map((protocol) => protocol.trim());
  const [carrier, another] = offered.filter(isTokenProtocol);
  if (carrier === undefined) return undefined;
  const encoded = carrier.slice(WEBSOCKET_TOKEN_PREFIX.length);
  const token = Buffer.from(encoded, 'base64url').toString('utf8');
  if (token === '') return undefined;
  // The answer names a protocol, which must not be the token: another one has to be offered.
  const isWrong = another !== undefined || offered.length === 1 || !BASE64URL.test(encoded) || token.includes('\ufffd');
  return isWrong ? NOBODYS_TOKEN : token;
}

/** A subprotocol that is offered to carry a token. */
export function isTokenProtocol(protocol: string): boolean {
  return protocol.startsWith(WEBSOCKET_TOKEN_PREFIX);
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** No header can hold it. */
const NOBODYS_TOKEN = '\0';

function clientCertificateOf({ socket, hidesCertificate }: HttpRequest): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket) || hidesCertificate === true) return undefined;
  let certificate = certificates.get(socket);
  if (certificate === undefined) {
    certificate = readCertificate(socket) ?? 'none';
    certificates.set(socket, certificate);
  }
  return certificate === 'none' ? undefined : certificate;
}

function readCertificate(socket: TLSSocket): ClientCertificate | undefined {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return undefined;
  const subject = (leaf.toLegacyObject().subject ?? {}) as Partial<Record<'CN' | 'O', string | readonly string[]>>;
  const { CN: commonName = '', O: organizations = [] } = subject;
  return {
    trusted: socket.authorized,
    leaf,
    // Of several names the last one counts, as in Go.
    commonName: typeof commonName === 'string' ? commonName : (commonName.at(-1) ?? ''),
    organizations: typeof organizations === 'string' ? [organizations] : organizations,
  };
}
