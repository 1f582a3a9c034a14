import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { StatusError } from '../../api/errors/status-error';
import { askBackend, type BodySource } from '../../kubelet/ask-backend';
import { hostPortOf, type Backend } from '../../kubelet/backend';
import { BackendFailure } from '../../kubelet/backend-failure';
import type { MemoryHolder } from '../../memory/memory-budget';
import { Backpressure } from '../../streams/backpressure';
import { isLongRunning } from '../filters/deadline';
import type { RequestContext } from '../request/context';
import type { HttpRequest } from '../transport/exchange';
import type { ApiResponse } from '../response/api-response';
import { sendWarnings } from '../response/response-writer';
import { announcedTrailers, forwardedHeaders, returnedHeaders, returnedTrailers } from './forwarded-headers';
import { withChangedLinks } from './html-body';
import { proxiedLink, type ProxiedPlace } from './links';
import { passUpgrade, type UpgradeDependencies } from './pass-upgrade';
import { endSoonWith, endWith, relayBody } from './relay-body';
import { escapePath } from './request-path';

export interface ProxyTarget {
  readonly backend: Backend;
  /** Decoded, as it stands after `proxy` in the client's path. */
  readonly path: string;
  /** The backend's own name goes into Host. Otherwise it sees the client's. */
  readonly namesHost?: boolean;
  /** Besides, and instead of, the client's. */
  readonly headers?: OutgoingHttpHeaders;
}

/** Passes a request on to what is behind the proxy, and the answer back. Throws a 500 when there is no answer. */
export async function passRequest(
  context: RequestContext,
  target: ProxyTarget,
  dependencies: UpgradeDependencies,
): Promise<ApiResponse> {
  try {
    return await passOn(context, target, dependencies);
  } catch (error) {
    throw error instanceof BackendFailure
      ? new StatusError(500, undefined, `error trying to reach service: ${error.message}`)
      : error;
  }
}

/** As {@link passRequest}, but throws a {@link BackendFailure} when there is no answer. */
export async function passOn(
  context: RequestContext,
  { backend, path, namesHost = false, headers: added }: ProxyTarget,
  dependencies: UpgradeDependencies,
): Promise<ApiResponse> {
  const { request, info } = context;
  const { backends, closing } = dependencies;
  // All others have a deadline.
  if (isLongRunning(context)) endSoonWith(closing, context);
  const { url = '' } = request;
  const mark = url.indexOf('?');
  const target = escapePath(path === '' ? '/' : path) + (mark < 0 ? '' : url.slice(mark));
  if (request.connectionUpgrade !== undefined) {
    const upgrade = { backend, path: target, namesHost, followsRedirects: false, ...(added && { headers: added }) };
    return passUpgrade(context, upgrade, dependencies);
  }
  const clientHost = request.headers.host ?? '';
  const place = { targetHost: hostPortOf(backend), clientHost, root: rootOf(info.path, path) };
  const body = bodyOf(context);
  const headers = {
    ...forwardedHeaders(request, backends.isPrivateHeader),
    host: namesHost ? place.targetHost : clientHost,
    'x-forwarded-uri': headerValue(place.root + path),
    ...(body === undefined ? {} : framingOf(request)),
    ...added,
  };
  const method = request.method ?? 'GET';
  const { message } = await askBackend(
    backends,
    backend,
    { method, path: target, headers, ownConnection: body !== undefined },
    context.signal,
    body,
  );
  if (info.verb === 'watch') endWith(closing, context, () => message.destroy());
  await passResponse(context, message, place);
  return { type: 'streamed' };
}

async function passResponse(context: RequestContext, message: IncomingMessage, place: ProxiedPlace): Promise<void> {
  const { response, request } = context;
  const headers = returnedHeaders(message);
  let body: Readable = message;
  for (const name of Object.keys(headers)) {
    if (name.toLowerCase() === 'location') headers[name] = headers[name]!.map((link) => proxiedLink(link, place));
  }
  const changed = request.method === 'HEAD' ? undefined : withChangedLinks(message, place);
  if (changed !== undefined) {
    body = changed;
    // It is another length now.
    for (const name of Object.keys(headers)) if (name.toLowerCase() === 'content-length') delete headers[name];
  }
  const cacheControl = Object.keys(headers).find((name) => name.toLowerCase() === 'cache-control') ?? 'Cache-Control';
  headers[cacheControl] = ['no-cache, private', ...(headers[cacheControl] ?? [])];
  context.statusCode = message.statusCode ?? 502;
  const announced = mayHaveTrailers(context, message) ? announcedTrailers(message) : [];
  if (announced.length > 0) headers.Trailer = [announced.join(', ')];
  sendWarnings(context);
  response.writeHead(context.statusCode, headers);
  // What comes piece by piece is read piece by piece, from the first one on.
  response.flushHeaders();
  const end = await relayBody(body, context);
  if (end !== 'whole') {
    response.destroy();
    return;
  }
  if (message.rawTrailers.length > 0) response.addTrailers(returnedTrailers(message));
  response.end();
}

/** They follow a body whose length is not told before. */
function mayHaveTrailers({ request, statusCode }: RequestContext, { headers }: IncomingMessage): boolean {
  const hasBody = request.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304;
  return hasBody && request.httpVersion !== '1.0' && headers['transfer-encoding'] !== undefined;
}

/** What stands before the target's own path. */
function rootOf(path: string, targetPath: string): string {
  if (path.endsWith(targetPath)) return path.slice(0, path.length - targetPath.length);
  return path.slice(0, path.indexOf('/proxy') + '/proxy'.length);
}

/** Undefined for a request without a body. */
function bodyOf({ request, memory }: RequestContext): BodySource | undefined {
  const { headers, httpVersion, readableEnded } = request;
  const hasBody =
    headers['transfer-encoding'] !== undefined ||
    Number(headers['content-length'] ?? 0) > 0 ||
    (httpVersion === '2.0' && !readableEnded);
  return hasBody ? { sendTo: (target) => sendBody(request, target, memory) } : undefined;
}

function framingOf({ headers }: HttpRequest): Readonly<Record<string, string>> {
  const length = headers['content-length'];
  return length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length };
}

/** As fast as the target takes it. */
function sendBody(request: HttpRequest, target: Writable, memory: MemoryHolder): void {
  const backpressure = new Backpressure(request, target, memory);
  const onData = (chunk: Buffer): void => {
    target.write(chunk);
    backpressure.wrote(chunk.length);
  };
  const onEnd = (): void => {
    target.end();
  };
  const settle = (): void => {
    request.off('data', onData).off('end', onEnd);
    target.off('close', settle);
    // The target wants no more of it; what still comes is dropped.
    request.resume();
  };
  target.on('close', settle);
  request.on('data', onData).on('end', onEnd);
}

/** As UTF-8, which is what others write; a character that no header may hold is percent-encoded. */
function headerValue(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^ -~\x80-\xff]/g, (character) => encodeURIComponent(character));
}
