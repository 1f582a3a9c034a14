import type { Authorizer } from '../../authz/attributes';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import { runSteps } from '../../async/steps';
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
  const compiled = new WeakMap<Webhook, MaybePromise<CompiledConditions>>();
  const requests = new WeakMap<AdmissionAttributes, Map<string, MaybePromise<RequestValues>>>();
  const conditionsOf = (webhook: Webhook): MaybePromise<CompiledConditions> => {
    let conditions = compiled.get(webhook);
    if (conditions === undefined) {
      const compiling = compile(webhook).then((done) => {
        compiled.set(webhook, done);
        return done;
      });
      compiled.set(webhook, (conditions = compiling));
    }
    return conditions;
  };
  return ({ webhook, seenAs }, attributes) => {
    let seen = requests.get(attributes);
    if (seen === undefined) requests.set(attributes, (seen = new Map<string, MaybePromise<RequestValues>>()));
    const key = keyOf(seenAs);
    let request = seen.get(key);
    if (request === undefined) {
      request = converted(() => requestValues(attributes, seenAs, versions, authorize));
      seen.set(key, request);
    }
    return whenKnown(conditionsOf(webhook), (conditions) => whenKnown(request, (values) => conditions.match(values)));
  };
}

/** Rejects for conditions that cannot be compiled: configurations with such are refused, but another server may have stored one. */
async function compile({ matchConditions }: Webhook): Promise<CompiledConditions> {
  try {
    return await runSteps(compileConditions(matchConditions), 'compiling the conditions of a webhook');
  } catch (error) {
    if (error instanceof Error && error.name === 'CelSyntaxError') {
      throw new Error(`compilation failed: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
