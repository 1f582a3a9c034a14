import { quoteGo } from './go-quote';
import { shownText } from './shown-value';
import type { FieldError } from './field-error';

/**
 * The reasons of the API and their HTTP codes (API conventions, "Response Status Kind"). The one table from which the
 * constructors below, and their types, come.
 */
export const STATUS_REASONS = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;
export type StatusReason = keyof typeof STATUS_REASONS;

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The wire's Status object, v1. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  /** A list's meta: the answer to an expired continue token offers another one. */
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** In characters: of all problems of one object, and what is said around them. */
const MAX_MESSAGE_LENGTH = 512 * 1024;

/** What every part of the server throws for an expected refusal; `status` is sent as it is. */
export class StatusError extends Error {
  readonly status: Status & { readonly code: number };

  constructor(
    code: number,
    reason: StatusReason | undefined,
    message: string,
    details?: StatusDetails,
    metadata: Status['metadata'] = {},
  ) {
    const told = shownText(message, MAX_MESSAGE_LENGTH);
    super(told);
    this.name = 'StatusError';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message: told,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** The group and plural resource that messages speak of, `deployments.apps`; the core group adds nothing. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export function qualifiedResource({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

function details(of: GroupResource, name: string): StatusDetails {
  return {
    ...(name === '' ? {} : { name: shownText(name) }),
    ...(of.group === '' ? {} : { group: of.group }),
    kind: of.resource,
  };
}

function make(reason: StatusReason, message: string, statusDetails?: StatusDetails): StatusError {
  return new StatusError(STATUS_REASONS[reason], reason, message, statusDetails);
}

export function badRequest(message: string): StatusError {
  return make('BadRequest', message);
}

export function unauthorized(message = 'Unauthorized'): StatusError {
  return make('Unauthorized', message);
}

export function forbidden(of: GroupResource, name: string, cause: string): StatusError {
  const subject = name === '' ? qualifiedResource(of) : `${qualifiedResource(of)} ${quoteGo(name)}`;
  return make('Forbidden', `${subject} is forbidden: ${cause}`, details(of, name));
}

export function notFound(of: GroupResource, name: string): StatusError {
  return make('NotFound', `${qualifiedResource(of)} ${quoteGo(name)} not found`, details(of, name));
}

export function alreadyExists(of: GroupResource, name: string): StatusError {
  return make('AlreadyExists', `${qualifiedResource(of)} ${quoteGo(name)} already exists`, details(of, name));
}

export function conflict(of: GroupResource, name: string, cause: string): StatusError {
  return make(
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedResource(of)} ${quoteGo(name)}: ${cause}`,
    details(of, name),
  );
}

/** A write lost the race; the text is what clients match on to retry. */
export function modified(of: GroupResource, name: string): StatusError {
  return conflict(
    of,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/**
 * What the problems of one object may be long together, in characters. Each may show a value that others show too (the whole
 * list for each of its items), so that telling all of them could take the square of what was sent.
 */
export const MAX_PROBLEMS_LENGTH = 256 * 1024;

/** As many of the problems, from the first on, as may be told; of the first at least the beginning. */
function tellable(errors: readonly FieldError[]): readonly FieldError[] {
  let length = 0;
  for (let told = 0; told < errors.length; told += 1) {
    const { field, message } = errors[told] as FieldError;
    length += field.length + message.length;
    if (length > MAX_PROBLEMS_LENGTH) return told > 0 ? errors.slice(0, told) : errors.slice(0, 1).map(shortened);
  }
  return errors;
}

function shortened(error: FieldError): FieldError {
  return { ...error, field: shownText(error.field), message: shownText(error.message, MAX_PROBLEMS_LENGTH) };
}

/** 422 with every problem at once. `kind` is the kind's name, with its group: `Deployment.apps`. */
export function invalidObject(
  of: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const told = tellable(errors);
  const subject = of.group === '' ? of.kind : `${of.kind}.${of.group}`;
  const texts = [
    ...new Set(told.map((error) => (error.field === '' ? error.message : `${error.field}: ${error.message}`))),
  ];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return make('Invalid', `${subject} ${quoteGo(name)} is invalid: ${list}`, {
    ...(name === '' ? {} : { name: shownText(name) }),
    ...(of.group === '' ? {} : { group: of.group }),
    kind: of.kind,
    causes: told.map(({ reason, field, message }) => ({ reason, message, ...(field === '' ? {} : { field }) })),
  });
}

export function gone(message: string): StatusError {
  return make('Gone', message);
}

/** `continueToken`: where an inconsistent rest of the list may be read. */
export function expired(message: string, continueToken?: string): StatusError {
  const metadata = continueToken === undefined ? {} : { continue: continueToken };
  return new StatusError(STATUS_REASONS.Expired, 'Expired', message, undefined, metadata);
}

export function methodNotSupported(of: GroupResource, verb: string): StatusError {
  return make('MethodNotAllowed', `${verb} is not supported on resources of kind "${qualifiedResource(of)}"`, {
    ...(of.group === '' ? {} : { group: of.group }),
    kind: of.resource,
  });
}

export function tooLarge(message: string): StatusError {
  return make('RequestEntityTooLarge', message);
}

export function notAcceptable(message: string): StatusError {
  return make('NotAcceptable', message);
}

export function unsupportedMediaType(message: string): StatusError {
  return make('UnsupportedMediaType', message);
}

export function tooManyRequests(
  message: string,
  retryAfterSeconds: number,
  causes?: readonly StatusCause[],
): StatusError {
  return make('TooManyRequests', message, { ...(causes === undefined ? {} : { causes }), retryAfterSeconds });
}

export function timeout(message: string, retryAfterSeconds?: number): StatusError {
  return make('Timeout', `Timeout: ${message}`, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}

/**
 * A get or list asked for a version that this server has not reached (API concepts, "Resource versions").
 * `waited`: it has been waited for, so that another try a second later makes sense.
 */
export function tooLargeResourceVersion(wanted: string, current: string, waited: boolean): StatusError {
  return make('Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    ...(waited ? { retryAfterSeconds: 1 } : {}),
  });
}

/** The cause is for the log; the client learns what its kind of error is. */
export function internalError(message: string): StatusError {
  const told = shownText(message, MAX_MESSAGE_LENGTH);
  return make('InternalError', `Internal error occurred: ${told}`, { causes: [{ message: told }] });
}

export function serviceUnavailable(message: string, retryAfterSeconds?: number): StatusError {
  return make('ServiceUnavailable', message, retryAfterSeconds === undefined ? undefined : { retryAfterSeconds });
}
