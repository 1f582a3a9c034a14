import { randomUUID } from 'node:crypto';
import { keysOf, type Steps } from '../../api/parts';
import { qualifiedNameProblems } from '../../api/validation/label-syntax';
import type { AdmissionAttributes } from '../plugin';
import { denied, dryRunUnsupported, WebhookFailure } from './failures';
import { takeTurns } from './large-work';
import { printReview, type PrintedObjects } from './review';
import { readResponse, type ReviewResponse } from './response';
import type { WebhookTarget } from '../../api/webhook-target';
import type { Candidate } from './webhook-index';

/** One question to a backend. */
export interface BackendCall {
  readonly target: WebhookTarget;
  /** JSON, in pieces. */
  readonly body: readonly Uint8Array[];
  /** No answer counts any more when they have passed. */
  readonly timeoutMs: number;
  /** The same in whole seconds, as the backend is told. */
  readonly timeoutSeconds: number;
  /** The response is not waited for any more. */
  readonly signal: AbortSignal;
  /** W3C's header, for a request that is traced. */
  readonly traceParent?: string;
}

/** Sends a review and resolves to the answer's body. Rejects, with words for the client, when there is none. */
export type CallBackend = (call: BackendCall) => Promise<Buffer>;

/**
 * Asks one webhook. Resolves to an answer that lets the request pass; rejects with a WebhookFailure, a WebhookDenial, or a StatusError
 * for what no failurePolicy excuses.
 */
export async function askWebhook(
  { webhook, seenAs }: Candidate,
  attributes: AdmissionAttributes,
  printed: PrintedObjects,
  callBackend: CallBackend,
): Promise<ReviewResponse> {
  const { name, type, reviewVersion: version, target } = webhook;
  if (attributes.dryRun && webhook.hasSideEffects) throw dryRunUnsupported(name);
  if (version === undefined) {
    throw new WebhookFailure(name, 'webhook does not accept known AdmissionReview versions (v1, v1beta1)');
  }
  const uid = randomUUID();
  const body = printReview(uid, version, attributes, seenAs, printed);
  const signal = attributes.signal();
  signal.throwIfAborted();
  const { timeoutMs } = webhook;
  // What is left of the request's own time is not this webhook's fault: the request is ended by its deadline.
  const allowedMs = Math.min(timeoutMs, attributes.timeLeftMs());
  let response: ReviewResponse;
  let received: Buffer;
  try {
    const timeoutSeconds = Math.max(1, Math.ceil(allowedMs / 1000));
    const call = { target, body, timeoutMs, timeoutSeconds, signal };
    received = await (attributes.trace === undefined
      ? callBackend(call)
      : attributes.trace.call(`webhook ${name}`, { 'webhook.type': type }, (traceParent) =>
          callBackend({ ...call, traceParent }),
        ));
    response = await takeTurns(attributes, readResponse(received, { uid, version, type }), received);
  } catch (error) {
    // The request itself is over: what would follow is not waited for.
    signal.throwIfAborted();
    throw new WebhookFailure(name, (error as Error).message, { cause: error });
  }
  await takeTurns(attributes, tellOf(name, response, attributes), received);
  if (!response.allowed) throw denied(name, response.status);
  return response;
}

/** An answer of the largest size has a hundred thousand of each. */
function* tellOf(
  name: string,
  { auditAnnotations, warnings }: ReviewResponse,
  { annotate, warn }: AdmissionAttributes,
): Steps<void> {
  for (const key of keysOf(auditAnnotations)) {
    const whole = `${name}/${key}`;
    if (qualifiedNameProblems(whole).length === 0) annotate(whole, auditAnnotations[key] as string);
    yield;
  }
  for (const warning of warnings) {
    warn(warning);
    yield;
  }
}
