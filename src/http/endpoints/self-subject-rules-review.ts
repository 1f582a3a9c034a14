import { badRequest } from '../../api/errors/status-error';
import { apiVersionOf } from '../../api/object';
import type { PolicyRule } from '../../authz/rbac-rules';
import type { RuleLister } from '../../authz/rules-review';
import type { Endpoint } from './endpoint';
import { kindOf } from './resource-request';
import { decodePosted } from './review';

/** SelfSubjectRulesReview: what may I do in this namespace? As far as the authorizers can list it. */
export function selfSubjectRulesReview(list: RuleLister): Endpoint {
  return async (request, dependencies) => {
    const { served, user } = request;
    const kind = kindOf(request);
    const object = await decodePosted(request, dependencies, { kind, type: served.type });
    const { namespace = '' } = (object.spec ?? {}) as { readonly namespace?: string };
    if (namespace === '') throw badRequest('no namespace on request');
    const { rules, incomplete, error } = list(user, namespace);
    return {
      type: 'object',
      code: 201,
      object: {
        kind: kind.kind,
        apiVersion: apiVersionOf(kind.group, kind.version),
        metadata: { creationTimestamp: null },
        spec: {},
        status: {
          resourceRules: rules.filter(({ resources }) => (resources ?? []).length > 0).map(resourceRule),
          nonResourceRules: rules.filter(({ nonResourceURLs }) => (nonResourceURLs ?? []).length > 0).map(pathRule),
          incomplete,
          ...(error === undefined ? {} : { evaluationError: error }),
        },
      },
      served,
    };
  };
}

function resourceRule({ verbs = [], apiGroups, resources, resourceNames }: PolicyRule): PolicyRule {
  return {
    verbs,
    ...(apiGroups === undefined ? {} : { apiGroups }),
    ...(resources === undefined ? {} : { resources }),
    ...(resourceNames === undefined || resourceNames.length === 0 ? {} : { resourceNames }),
  };
}

function pathRule({ verbs = [], nonResourceURLs = [] }: PolicyRule): PolicyRule {
  return { verbs, nonResourceURLs };
}
