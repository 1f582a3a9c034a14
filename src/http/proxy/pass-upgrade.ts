import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { badRequest, StatusError } from '../../api/errors/status-error';
import { askBackend, type BackendOutcome } from '../../kubelet/ask-backend';
import { originOf, type Backend } from '../../kubelet/backend';
import type { RequestOpener } from '../../kubelet/backend-connections';
import { BackendFailure } from '../../kubelet/backend-failure';
import { joinSockets } from '../../streams/join-sockets';
import type { RequestContext } from '../request/context';
import type { ConnectionUpgrade } from '../transport/exchange';
import type { ApiResponse } from '../response/api-response';
import { forwardedHeaders, returnedHeaders } from './forwarded-headers';
import { lastAsStream, relayBody } from './relay-body';

export interface UpgradeTarget {
  readonly backend: Backend;
  /** With its query. */
  readonly path: string;
  /** The backend's own name goes into Host. Otherwise it sees the client's. */
  readonly namesHost: boolean;
  /** A kubelet may send a client on to another place of its own. */
  readonly followsRedirects: boolean;
  /** Besides, and instead of, the client's. */
  readonly headers?: OutgoingHttpHeaders;
}

export interface UpgradeDependencies {
  readonly backends: RequestOpener;
  readonly closing: AbortSignal;
}

const STREAMED: ApiResponse = { type: 'streamed' };
const MAX_REDIRECTS = 9;

/** The request's connection, to be taken for another protocol. Throws a 400 where the client did not ask for one. */
export function upgradeOf({ request }: RequestContext): ConnectionUpgrade {
  const { connectionUpgrade } = request;
  if (connectionUpgrade === undefined) throw badRequest('Upgrade request required');
  return connectionUpgrade;
}

/**
 * Has the backend upgrade its connection as the client asks, and joins the two. Any other answer of 400 and above goes to the
 * client as it is. Throws a 500 when there is no connection.
 */
export async function passUpgrade(
  context: RequestContext,
  target: UpgradeTarget,
  dependencies: UpgradeDependencies,
): Promise<ApiResponse> {
  const upgrade = upgradeOf(context);
  const response = await askFor(context, target, dependencies.backends);
  const { message } = response;
  const code = message.statusCode ?? 0;
  if (response.type === 'upgraded' && code === 101) {
    if (context.finished) response.socket.destroy();
    else join(context, upgrade, response, dependencies.closing);
    return STREAMED;
  }
  if (code < 400) {
    message.destroy();
    throw new StatusError(500, undefined, `invalid upgrade response: status code ${code}`);
  }
  await passRefusal(context, message);
  return STREAMED;
}

/** The backend's answer, which may stand at the end of some redirects. */
async function askFor(
  context: RequestContext,
  { backend, path, namesHost, followsRedirects, headers: added }: UpgradeTarget,
  backends: RequestOpener,
): Promise<BackendOutcome> {
  const { request } = context;
  const headers = {
    ...forwardedHeaders(request, backends.isPrivateHeader),
    connection: 'Upgrade',
    upgrade: request.headers.upgrade,
    ...added,
  };
  let at = { backend, path };
  let method = request.method ?? 'GET';
  for (let redirects = 0; ; redirects++) {
    const host = namesHost ? new URL(originOf(at.backend)).host : (request.headers.host ?? '');
    const response = await askBackend(
      backends,
      at.backend,
      { method, path: at.path, headers: { ...headers, host }, ownConnection: true },
      context.signal,
    ).catch((error: unknown) => {
      throw error instanceof BackendFailure
        ? new StatusError(500, undefined, `error dialing backend: ${error.message}`)
        : error;
    });
    if (!followsRedirects || response.message.statusCode !== 302) return response;
    response.message.destroy();
    if (redirects === MAX_REDIRECTS) throw new StatusError(500, undefined, `too many redirects (${redirects + 1})`);
    at = redirected(at, response.message.headers.location);
    method = 'GET';
  }
}

/** Only to the same host: a kubelet must not send the server anywhere else. */
function redirected(
  { backend, path }: Pick<UpgradeTarget, 'backend' | 'path'>,
  location: string | undefined,
): Pick<UpgradeTarget, 'backend' | 'path'> {
  if (location === undefined) throw new StatusError(500, undefined, '302 response missing Location header');
  const from = new URL(originOf(backend) + path);
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const isHttp = to?.protocol === 'https:' || to?.protocol === 'http:';
  if (to === undefined || !isHttp || to.hostname !== from.hostname) {
    const found = to?.hostname ?? location;
    throw new StatusError(500, undefined, `hostname mismatch: expected ${from.hostname}, found ${found}`);
  }
  const scheme = to.protocol === 'https:' ? 'https' : 'http';
  const port = to.port === '' ? (scheme === 'https' ? 443 : 80) : Number(to.port);
  return { backend: { ...backend, scheme, port }, path: to.pathname + to.search };
}

function join(
  context: RequestContext,
  upgrade: ConnectionUpgrade,
  { message, socket: backend, head }: Extract<BackendOutcome, { type: 'upgraded' }>,
  closing: AbortSignal,
): void {
  context.statusCode = 101;
  const { socket: client, head: early } = upgrade.take();
  client.write(headOf(message));
  if (head.length > 0) client.write(head);
  if (early.length > 0) backend.write(early);
  lastAsStream(closing, context, joinSockets(client, backend, context.memory));
}

function headOf({ httpVersion, statusCode, statusMessage, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`HTTP/${httpVersion} ${statusCode} ${statusMessage}`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** The backend's answer as it is; the connection ends with it. */
export async function passRefusal(context: RequestContext, message: IncomingMessage): Promise<void> {
  const { response } = context;
  context.statusCode = message.statusCode ?? 500;
  // As it is: the connection ends without being announced.
  response.removeHeader('Connection');
  response.writeHead(context.statusCode, returnedHeaders(message));
  const end = await relayBody(message, context);
  if (end === 'whole') response.end();
  else response.destroy();
}
