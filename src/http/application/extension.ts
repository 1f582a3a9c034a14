import type { Express, Request, Response } from 'express';
import { STATUS_CODES } from 'node:http';
import { STATUS_REASONS, StatusError, type StatusReason } from '../../api/errors/status-error';
import type { UserInfo } from '../../api/user';
import { leaveSeat } from '../filters/seats';
import type { RequestContext } from '../request/context';

/** Adds routes and middleware of others to the application; resolves when all are there. */
export type Extension = (app: Express) => unknown;

/** Who asks, as routes of others see it in `req.user`. */
export interface RequestUser {
  readonly name: string;
  /** Empty where authentication knows none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** How it is for those answers of kube-apiserver that do not say otherwise. */
const CACHE_CONTROL = 'no-cache, private';
const EVENT_STREAM = /^text\/event-stream\b/i;

/**
 * What stands before the routes of others: they learn who asks and nothing of what proved it, and what they answer is counted,
 * audited and has its time like everything else. A stream of server-sent events may last.
 */
export function enterExtension(
  context: RequestContext,
  request: Request,
  response: Response,
  closing: AbortSignal,
): void {
  (request as Request & { user?: RequestUser }).user = requestUser(context.user);
  withoutToken(request);
  if (request.rawHeaders.length === 0) request.rawHeaders = rawHeadersOf(context);
  response.setHeader('Cache-Control', CACHE_CONTROL);
  const writeHead = response.writeHead as (...given: unknown[]) => Response;
  response.writeHead = ((...given: unknown[]): Response => {
    writeHead.apply(response, given);
    answered(context, response, closing);
    return response;
  }) as Response['writeHead'];
}

function requestUser({ name, uid = '', groups, extra = {} }: UserInfo = { name: '', groups: [] }): RequestUser {
  return { name, uid, groups, extra };
}

/** Of a request that node:http brought. What the filters left of the others has no token. */
function withoutToken(request: Request): void {
  const { rawHeaders } = request;
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2) {
    if (rawHeaders[index]?.toLowerCase() === 'authorization') rawHeaders.splice(index, 2);
  }
  delete request.headers.authorization;
  if (rawHeaders.length > 0) delete request.headersDistinct.authorization;
}

function rawHeadersOf({ request }: RequestContext): string[] {
  return Object.entries(request.headersDistinct).flatMap(([name, values = []]) =>
    name === 'authorization' ? [] : values.flatMap((value) => [name, value]),
  );
}

/** The head is on its way. */
function answered(context: RequestContext, response: Response, closing: AbortSignal): void {
  context.statusCode = response.statusCode;
  leaveSeat(context);
  if (!EVENT_STREAM.test(String(response.getHeader('Content-Type') ?? ''))) return;
  context.staysOpen = true;
  context.audit?.started();
  // With the server, as watches do: the client comes back to another one.
  const end = (): void => void response.end();
  if (closing.aborted) return end();
  closing.addEventListener('abort', end);
  context.onFinished(() => closing.removeEventListener('abort', end));
}

/** Headers that are about a body which is not sent. */
const OF_THE_BODY = [
  'Accept-Ranges',
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
  'Content-Length',
  'Content-Range',
  'Content-Type',
  'ETag',
  'Last-Modified',
];

/** Makes way for a Status. */
export function withoutBodyHeaders(response: Response): void {
  if (!response.headersSent) for (const name of OF_THE_BODY) response.removeHeader(name);
}

/**
 * What libraries for Express throw when the client is wrong says so (`status` 400 to 499), and what the client may read of it (`expose`).
 * Everything else is a failure of the server.
 */
export function statusErrorOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || error instanceof StatusError) return error;
  const { status, expose, message } = error as { status?: unknown; expose?: unknown; message?: unknown };
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 499) return error;
  const text = expose === false || typeof message !== 'string' ? (STATUS_CODES[status] ?? '') : message;
  return new StatusError(status, reasonOf(status), text);
}

function reasonOf(code: number): StatusReason | undefined {
  const reasons = Object.entries(STATUS_REASONS) as [StatusReason, number][];
  return reasons.find(([, ofReason]) => ofReason === code)?.[0];
}
