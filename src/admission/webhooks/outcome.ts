import { performance } from 'node:perf_hooks';
import { StatusError } from '../../api/errors/status-error';
import type { AdmissionAttributes } from '../plugin';
import { failedClosed, WebhookDenial, WebhookFailure } from './failures';
import type { WebhookMetrics } from './metrics';
import type { Webhook } from './webhook';

const PASSED = 200;
/** For metrics: a backend that gives no answer is out of service. */
const FAILED = 503;
const INTERNAL = 500;

/** What is told of a webhook that failed and is not heard therefore. */
export type ReportFailure = (webhook: Webhook, failure: WebhookFailure) => void;

export interface OutcomeDependencies {
  readonly metrics: Pick<WebhookMetrics, 'recordCall' | 'recordRejection' | 'recordFailedOpen'> | undefined;
  readonly failedOpen: ReportFailure;
}

/**
 * Runs one call and counts what came of it. Resolves to its result, or to undefined when it failed and its policy is to ignore that;
 * rejects with the StatusError that the client gets.
 */
export async function decided<T>(
  webhook: Webhook,
  { operation }: Pick<AdmissionAttributes, 'operation'>,
  { metrics, failedOpen }: OutcomeDependencies,
  call: () => Promise<T>,
): Promise<T | undefined> {
  const start = performance.now();
  const record = (rejected: boolean, code: number): void =>
    metrics?.recordCall({ webhook, operation, seconds: (performance.now() - start) / 1000, rejected, code });
  try {
    const result = await call();
    record(false, PASSED);
    return result;
  } catch (error) {
    if (error instanceof WebhookDenial) {
      const { refusal } = error;
      metrics?.recordRejection(webhook, operation, 'no_error', refusal.status.code);
      record(true, refusal.status.code);
      throw refusal;
    }
    if (!(error instanceof WebhookFailure)) {
      metrics?.recordRejection(webhook, operation, 'apiserver_internal_error', 0);
      record(true, error instanceof StatusError ? error.status.code : INTERNAL);
      throw error;
    }
    if (webhook.ignoresFailures) {
      record(false, FAILED);
      metrics?.recordFailedOpen(webhook);
      failedOpen(webhook, error);
      return undefined;
    }
    metrics?.recordRejection(webhook, operation, 'calling_webhook_error', 0);
    record(true, FAILED);
    throw failedClosed(error);
  }
}
