import { badRequest, internalError, StatusError, type Status } from '../../api/errors/status-error';
import { quoteGo } from '../../api/errors/go-quote';

/** A webhook gave no answer that counts: what follows is up to its failurePolicy. */
export class WebhookFailure extends Error {
  override readonly name = 'WebhookFailure';

  constructor(webhook: string, reason: string, options?: ErrorOptions) {
    super(`failed calling webhook ${quoteGo(webhook)}: ${reason}`, options);
  }
}

/** A webhook said no. */
export class WebhookDenial extends Error {
  override readonly name = 'WebhookDenial';

  constructor(readonly refusal: StatusError) {
    super(refusal.message);
  }
}

/** The Status of a response, as far as it is told to the client. */
export interface ResponseStatus {
  readonly metadata?: Status['metadata'];
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: Status['details'];
  readonly code?: number;
}

const LEAST_ERROR = 400;
/** HTTP has no more digits for it. */
const GREATEST_CODE = 999;

/** What the client is told of a denial: code, reason and details are the webhook's, unless they say that all is well. */
export function denied(webhook: string, status: ResponseStatus | undefined): WebhookDenial {
  const { metadata, message = '', reason = '', details, code = 0 } = status ?? {};
  const subject = `admission webhook ${quoteGo(webhook)} denied the request`;
  const explanation = message || reason;
  return new WebhookDenial(
    new StatusError(
      code >= LEAST_ERROR && code <= GREATEST_CODE ? code : LEAST_ERROR,
      // Webhooks make up reasons of their own.
      reason === '' ? undefined : (reason as Status['reason']),
      explanation === '' ? `${subject} without explanation` : `${subject}: ${explanation}`,
      details,
      metadata ?? {},
    ),
  );
}

/** The 400 for a dry run that a webhook could not keep dry. */
export function dryRunUnsupported(webhook: string): StatusError {
  return badRequest(`admission webhook ${quoteGo(webhook)} does not support dry run`);
}

/** What the client is told of a failure that its policy does not ignore. */
export function failedClosed(failure: WebhookFailure): StatusError {
  return internalError(failure.message);
}
