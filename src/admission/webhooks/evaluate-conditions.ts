import type { Authorizer } from '../../authz/attributes';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import { compileConditions, type CompiledConditions } from '../cel/match-conditions';
import { requestValues, type RequestValues } from '../cel/request-values';
import type { AdmissionAttributes } from '../plugin';
import { converted } from '../versions/converted';
import { keyOf, type ObjectVersions } from '../versions/object-versions';
import type { EvaluateConditions } from './conditions';
import type { Webhook } from './webhook';

/** Evaluates conditions in CEL. They are compiled once for a configuration; all webhooks that want a version see the same values of a request. */
export function evaluateConditions(
  authorize: Authorizer,
  versions: Pick<ObjectVersions, 'toVersion'>,
): EvaluateConditions {
  const compiled = new WeakMap<Webhook, CompiledConditions | Error>();
  const requests = new WeakMap<AdmissionAttributes, Map<string, MaybePromise<RequestValues>>>();
  const conditionsOf = (webhook: Webhook): CompiledConditions | Error => {
    let conditions = compiled.get(webhook);
    if (conditions === undefined) compiled.set(webhook, (conditions = compileOrFail(webhook)));
    return conditions;
  };
  return ({ webhook, seenAs }, attributes) => {
    const conditions = conditionsOf(webhook);
    if (conditions instanceof Error) throw conditions;
    let seen = requests.get(attributes);
    if (seen === undefined) requests.set(attributes, (seen = new Map<string, MaybePromise<RequestValues>>()));
    const key = keyOf(seenAs);
    let request = seen.get(key);
    if (request === undefined) {
      request = converted(() => requestValues(attributes, seenAs, versions, authorize));
      seen.set(key, request);
    }
    return whenKnown(request, (values) => conditions.match(values));
  };
}

/** Configurations with such conditions are refused; one may have been stored by another server. */
function compileOrFail({ matchConditions }: Webhook): CompiledConditions | Error {
  try {
    return compileConditions(matchConditions);
  } catch (error) {
    if (error instanceof Error && error.name === 'CelSyntaxError')
      return new Error(`compilation failed: ${error.message}`);
    throw error;
  }
}
