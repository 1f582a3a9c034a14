import type { Express, Request, Response } from 'express';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import { STATUS_REASONS, StatusError, type StatusReason } from '../../api/errors/status-error';
import type { UserInfo } from '../../api/user';
import { leaveSeat } from '../filters/seats';
import type { RequestContext } from '../request/context';
import type { Dispatched } from '../response/api-response';
import type { RequestUser } from './extension-app';
import { layersOf, pathsIn } from './extension-paths';
import { messageClassesOf } from './message-classes';
import { facadeOf, handBack } from './message-facades';
import type { Passage } from './passage';

/** Adds routes and middleware of others to the application; resolves when all are there. */
export type Extension = (app: Express) => unknown;

/** How it is for those answers of kube-apiserver that do not say otherwise. */
const CACHE_CONTROL = 'no-cache, private';
const EVENT_STREAM = /^text\/event-stream\b/i;

const STREAMED: Dispatched = { response: { type: 'streamed' }, negotiated: { format: 'json', pretty: false } };

/** Routes of others, and the plain ones of the paths at which they are. */
export interface ExtensionApplication {
  readonly paths: readonly string[];
  /** `next`: none of them has answered. */
  readonly run: (passage: Passage, next: () => void) => void;
}

/**
 * Lets others add their routes to an application of their own. Their requests and responses are node:http's as far as they can tell, over
 * every version of HTTP.
 */
export async function extensionApplication(
  app: Express,
  extensions: readonly Extension[],
  closing: AbortSignal,
): Promise<ExtensionApplication> {
  // A path is what was authorized and nothing else.
  app.enable('case sensitive routing').enable('strict routing').disable('x-powered-by');
  const classes = messageClassesOf(app);
  for (const extension of extensions) await extension(app);
  const run = (passage: Passage, next: () => void): void => {
    const { context } = passage;
    const { request, response } = facadeOf(context.request, context.response, passage.url, classes);
    context.onFinished(() => passage.respond(STREAMED));
    enterExtension(context, request as Request, response as Response, closing);
    app(request as Request, response as Response, (error: unknown) => {
      if (error) withoutBodyHeaders(response);
      handBack(response);
      if (error) passage.fail(statusErrorOf(error));
      else next();
    });
  };
  return { paths: pathsIn(layersOf(app.router)), run };
}

/**
 * What stands before the routes of others: they learn who asks and nothing of what proved it, and what they answer is counted,
 * audited and has its time like everything else. A stream of server-sent events may last.
 */
function enterExtension(context: RequestContext, request: Request, response: Response, closing: AbortSignal): void {
  (request as Request & { user: RequestUser }).user = requestUser(context.user);
  delete request.headers.authorization;
  request.rawHeaders = rawHeadersOf(context);
  response.setHeader('Cache-Control', CACHE_CONTROL);
  const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => unknown;
  response.writeHead = ((...given: unknown[]): Response => {
    writeHead(...given);
    answered(context, response, closing);
    return response;
  }) as Response['writeHead'];
}

function requestUser({ name, uid = '', groups, extra = {} }: UserInfo = { name: '', groups: [] }): RequestUser {
  return { name, uid, groups, extra };
}

/** What is left to see of them. */
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
function withoutBodyHeaders(response: ServerResponse): void {
  if (!response.headersSent) for (const name of OF_THE_BODY) response.removeHeader(name);
}

/**
 * What libraries for Express throw when the client is wrong says so (`status` 400 to 499), and what the client may read of it (`expose`).
 * Everything else is a failure of the server.
 */
function statusErrorOf(error: unknown): unknown {
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
