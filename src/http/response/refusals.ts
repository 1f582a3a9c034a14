import { internalError, serviceUnavailable, StatusError, tooManyRequests } from '../../api/errors/status-error';

/** What requests are refused with, whatever they are about: where nothing is there, and where the server has too much to do. */

/** When it is worth trying again, as kube-apiserver's filters say. */
const RETRY_AFTER_SECONDS = 1;

/** An answer in plain text, where kube-apiserver gives no Status: a filter that could not do its work. */
export class PlainTextError extends Error {
  constructor(
    readonly code: number,
    readonly text: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(text);
    this.name = 'PlainTextError';
  }
}

/** As many requests are under way as may be. In kube-apiserver's words, which clients know without a Status. */
export function tooManyInFlight(): PlainTextError {
  return new PlainTextError(429, 'Too many requests, please try again later.\n', RETRY_AFTER_SECONDS);
}

/** What the server holds leaves no room for this one. kube-apiserver has no such bounds. */
export function outOfRoom(requests: 'requests' | 'large requests' | 'watches' | 'streams'): StatusError {
  return tooManyRequests(`Too many ${requests}, please try again later.`, RETRY_AFTER_SECONDS);
}

export function shuttingDown(): StatusError {
  return serviceUnavailable('the server is shutting down', RETRY_AFTER_SECONDS);
}

/** Where the server is mounted in an application of others. */
export function bodyAlreadyRead(): StatusError {
  return internalError(
    'the body of the request was read before it came to the API server, whose handler belongs before body parsers',
  );
}

export function resourceNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
}
