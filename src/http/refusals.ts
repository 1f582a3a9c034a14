import { StatusError } from '../api/errors/status-error';

/** What is said to requests for paths and methods that are not there, before it is known what they are about. */

/** An answer in plain text, where the API gives no Status: a filter that could not do its work. */
export class PlainTextError extends Error {
  constructor(
    readonly code: number,
    readonly text: string,
  ) {
    super(text);
    this.name = 'PlainTextError';
  }
}

/** kube-apiserver's words; the filter that throws it sets Retry-After. */
export function tooManyRequests(): PlainTextError {
  return new PlainTextError(429, 'Too many requests, please try again later.\n');
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
