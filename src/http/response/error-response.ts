import { internalError, StatusError, type Status } from '../../api/errors/status-error';
import type { Schema } from '../../api/schema/model';
import type { Logger } from '../../observability/logger';
import { StoreFailure } from '../../storage/store';
import type { RequestContext } from '../request/context';
import type { HttpResponse } from '../transport/exchange';
import { MEDIA_TYPES, negotiateError, wantsPretty } from '../request/negotiate';
import { encodeStatus, sendWarnings } from './response-writer';
import { PlainTextError } from './refusals';
import { MalformedPathError } from '../request/request-info';
import { writeHead } from './response-head';

/**
 * Where everything that was thrown ends: a StatusError is sent as it is; a failure of the store is a 500 that says what
 * is wrong with it; anything else is a 500 whose cause is logged and not sent. Nothing is sent to a client that has gone, or that has its answer.
 */
export function sendErrorResponse(context: RequestContext, error: unknown, schema: Schema, logger: Logger): void {
  const { response } = context;
  if (context.finished || response.destroyed) return;
  if (response.headersSent) {
    if (response.writableEnded) return;
    logger.error({ err: error, path: context.info.path }, 'an answer broke off');
    response.destroy();
    return;
  }
  if (error instanceof MalformedPathError) {
    context.statusCode = 400;
    writeHead(response, 400, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
    response.end('400 Bad Request');
    return;
  }
  if (error instanceof PlainTextError) {
    context.statusCode = error.code;
    sayWhenToRetry(response, error.retryAfterSeconds);
    writeHead(response, error.code, {
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
      'Content-Length': Buffer.byteLength(error.text),
    });
    response.end(error.text);
    return;
  }
  sendStatus(context, statusOf(context, error, logger), schema);
}

function statusOf(context: RequestContext, error: unknown, logger: Logger): Status {
  if (error instanceof StatusError) return error.status;
  const { verb, resource, namespace, name, path } = context.info;
  const isReported = error instanceof StoreFailure && error.isReported;
  if (!isReported) logger.error({ err: error, verb, resource, namespace, name, path }, 'a request failed');
  // kube-apiserver hands the store's words on as they are, without a reason.
  if (error instanceof StoreFailure) return new StatusError(500, undefined, error.publicMessage).status;
  context.panicked = true;
  return internalError('the server could not complete the request; its log says why').status;
}

/** Writes a Status in the format that the client takes, JSON if it takes none that there is. */
export function sendStatus(context: RequestContext, status: Status, schema: Schema): void {
  const { request, response, info } = context;
  const negotiated = negotiateError(request.headers.accept);
  const pretty = negotiated.pretty || wantsPretty(info.query.first('pretty'), request.headers['user-agent']);
  const body = encodeStatus(status, negotiated, pretty, schema);
  context.statusCode = status.code ?? 500;
  context.responseBytes = body.length;
  context.responseObject = status;
  sendWarnings(context);
  sayWhenToRetry(response, status.details?.retryAfterSeconds);
  writeHead(response, context.statusCode, {
    'Content-Type': MEDIA_TYPES[negotiated.format],
    'Content-Length': body.length,
  });
  response.end(body);
}

/** As kube-apiserver's filters write one: without its kind, whatever the client takes. */
export function sendBareStatus(
  context: RequestContext,
  { kind: _kind, apiVersion: _version, ...status }: Status,
): void {
  const { response } = context;
  const body = Buffer.from(`${JSON.stringify(status)}\n`);
  context.statusCode = status.code ?? 500;
  context.responseBytes = body.length;
  context.responseObject = status;
  writeHead(response, context.statusCode, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': body.length,
  });
  response.end(body);
}

function sayWhenToRetry(response: HttpResponse, seconds = 0): void {
  if (seconds > 0) response.setHeader('Retry-After', String(seconds));
}
