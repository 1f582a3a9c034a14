import { internalError } from '../../api/errors/status-error';
import type { MaybePromise } from '../../api/maybe-promise';
import { refuse, type AdmissionAttributes } from '../plugin';
import type { Candidate } from './webhook-index';

/**
 * Evaluates a webhook's matchConditions: whether it is to be called. Throws an Error that says why they have no value. Handed in by
 * what has an environment for CEL.
 */
export type EvaluateConditions = (candidate: Candidate, attributes: AdmissionAttributes) => MaybePromise<boolean>;

/**
 * Whether a webhook that matches a request otherwise is to be called. Throws the 403 for conditions without a value, where failures count, and
 * the 500 for a webhook that cannot be understood.
 */
export async function applies(
  candidate: Candidate,
  attributes: AdmissionAttributes,
  evaluate: EvaluateConditions,
): Promise<boolean> {
  const { webhook } = candidate;
  if (webhook.problem !== undefined) throw internalError(webhook.problem);
  if (webhook.matchConditions.length === 0) return true;
  try {
    return await evaluate(candidate, attributes);
  } catch (error) {
    if (webhook.ignoresFailures) return false;
    throw refuse(attributes, (error as Error).message);
  }
}
