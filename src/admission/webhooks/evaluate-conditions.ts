import type { Authorizer } from '../../authz/attributes';
import { compileConditions, type CompiledConditions } from '../cel/match-conditions';
import { requestValues, type RequestValues } from '../cel/request-values';
import type { AdmissionAttributes } from '../plugin';
import type { EvaluateConditions } from './conditions';
import type { Webhook } from './webhook';

/** Evaluates conditions in CEL. They are compiled once for a configuration; all webhooks see the same values of a request. */
export function evaluateConditions(authorize: Authorizer): EvaluateConditions {
  const compiled = new WeakMap<Webhook, CompiledConditions | Error>();
  const requests = new WeakMap<AdmissionAttributes, RequestValues>();
  const conditionsOf = (webhook: Webhook): CompiledConditions | Error => {
    let conditions = compiled.get(webhook);
    if (conditions === undefined) compiled.set(webhook, (conditions = compileOrFail(webhook)));
    return conditions;
  };
  return (webhook, attributes) => {
    const conditions = conditionsOf(webhook);
    if (conditions instanceof Error) throw conditions;
    let request = requests.get(attributes);
    if (request === undefined) requests.set(attributes, (request = requestValues(attributes, authorize)));
    return conditions.match(request);
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
