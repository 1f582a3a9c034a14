import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { isTokenProtocol } from '../filters/credentials';
import type { HttpRequest } from '../transport/exchange';

/** They are about one connection (RFC 9110, 7.6.1), and so is whatever `Connection` names. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The user is proved to this server, and not to those behind it. */
function isCredential(name: string): boolean {
  return name === 'authorization' || name.startsWith('impersonate-');
}

/** Where another server may let a page in, this one does not. */
function isCrossOriginPermission(name: string): boolean {
  return name.startsWith('access-control-allow-');
}

/**
 * The headers of a client's request as a backend gets them. `isPrivate` knows the names in which a trusted proxy says who asks.
 * What frames the body is for the caller.
 */
export function forwardedHeaders(request: HttpRequest, isPrivate: (name: string) => boolean): OutgoingHttpHeaders {
  const named = namesIn(request.headers.connection);
  const headers: OutgoingHttpHeaders = {};
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    if (HOP_BY_HOP.has(name) || named.has(name) || isCredential(name) || isPrivate(name)) continue;
    if (name === 'content-length' || name === 'expect') continue;
    const kept = name === 'sec-websocket-protocol' ? withoutTokens(values) : values;
    if (kept.length > 0) headers[name] = kept.length === 1 ? kept[0] : [...kept];
  }
  if (namesIn(String(request.headers.te ?? '')).has('trailers')) headers.te = 'trailers';
  const client = request.socket.remoteAddress ?? '';
  const before = (request.headersDistinct['x-forwarded-for'] ?? []).join(', ');
  const address = client.startsWith('::ffff:') ? client.slice('::ffff:'.length) : client;
  if (address !== '') headers['x-forwarded-for'] = before === '' ? address : `${before}, ${address}`;
  return headers;
}

function withoutTokens(values: readonly string[]): readonly string[] {
  const protocols = values.flatMap((value) => value.split(',').map((protocol) => protocol.trim()));
  if (!protocols.some(isTokenProtocol)) return values;
  const kept = protocols.filter((protocol) => !isTokenProtocol(protocol));
  return kept.length === 0 ? [] : [kept.join(',')];
}

/** The headers of a backend's answer as the client gets them. */
export function returnedHeaders({ rawHeaders, headers: { connection } }: IncomingMessage): Record<string, string[]> {
  const named = namesIn(connection);
  const headers: Record<string, string[]> = {};
  const spelled = new Map<string, string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    if (HOP_BY_HOP.has(name) || named.has(name) || isCrossOriginPermission(name)) continue;
    let spelling = spelled.get(name);
    if (spelling === undefined) spelled.set(name, (spelling = rawHeaders[index]!));
    (headers[spelling] ??= []).push(rawHeaders[index + 1]!);
  }
  return headers;
}

/** The trailers that a backend has announced, as they are announced to the client. */
export function announcedTrailers({ headers: { trailer } }: IncomingMessage): readonly string[] {
  return (trailer ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && mayTrail(name.toLowerCase()));
}

/** What came after the body of a backend's answer, announced or not. */
export function returnedTrailers({ rawTrailers }: IncomingMessage): Record<string, string[]> {
  const trailers: Record<string, string[]> = {};
  for (let index = 0; index < rawTrailers.length; index += 2) {
    const name = rawTrailers[index]!;
    if (mayTrail(name.toLowerCase())) (trailers[name] ??= []).push(rawTrailers[index + 1]!);
  }
  return trailers;
}

/** Not what frames a message, or is about a connection (RFC 9110, 6.5.1), nor what the head may not have either. */
function mayTrail(name: string): boolean {
  return !HOP_BY_HOP.has(name) && name !== 'content-length' && name !== 'host' && !isCrossOriginPermission(name);
}

function namesIn(list: string | undefined): ReadonlySet<string> {
  return new Set((list ?? '').split(',').map((name) => name.trim().toLowerCase()));
}
