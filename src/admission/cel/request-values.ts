import { REQUEST, StructData } from '../../api/cel/admission-environment';
import { adaptDynamic } from '../../api/cel/data';
import { Authorizers, Check, type AuthorizationQuestion } from '../../api/cel/functions/authorizer';
import type { Value } from '../../api/cel/values';
import type { JsonValue, KubeObject } from '../../api/object';
import { serviceAccountUserName, type UserInfo } from '../../api/user';
import type { Authorizer } from '../../authz/attributes';
import type { AdmissionAttributes } from '../plugin';

/** What expressions see of a request; made once for all that look at it. */
export interface RequestValues {
  readonly variables: Readonly<Record<string, Value>>;
  readonly authorizers: Authorizers;
}

export function requestValues(attributes: AdmissionAttributes, authorize: Authorizer): RequestValues {
  const authorizers = new Authorizers((question) => ask(question, attributes.user, authorize));
  const authorizer = new Check('Authorizer', authorizers, {});
  const { group, resource, subresource, namespace, name } = attributes;
  return {
    authorizers,
    variables: {
      object: adaptObject(attributes.object),
      oldObject: adaptObject(attributes.oldObject),
      request: requestValue(attributes),
      authorizer,
      'authorizer.requestResource': authorizer.with('ResourceCheck', { group, resource, subresource, namespace, name }),
    },
  };
}

export function adaptObject(object: KubeObject | undefined): Value {
  return object === undefined ? null : adaptDynamic(object as unknown as JsonValue);
}

function requestValue(attributes: AdmissionAttributes): Value {
  const { operation, group, version, resource, subresource, kind, namespace, name, options, user, dryRun } = attributes;
  const named = { group, version, resource };
  return new StructData(REQUEST, {
    kind,
    resource: named,
    subResource: subresource,
    requestKind: kind,
    requestResource: named,
    requestSubResource: subresource,
    name: name === '' ? (attributes.object?.metadata.name ?? '') : name,
    namespace,
    operation,
    userInfo: {
      username: user.name,
      uid: user.uid ?? '',
      groups: user.groups,
      extra: user.extra ?? {},
    },
    dryRun,
    options,
  });
}

function ask(question: AuthorizationQuestion, user: UserInfo, authorize: Authorizer) {
  const { serviceAccount, path, ...rest } = question;
  const who =
    serviceAccount === undefined
      ? user
      : {
          name: serviceAccountUserName(serviceAccount.namespace, serviceAccount.name),
          groups: [
            'system:serviceaccounts',
            `system:serviceaccounts:${serviceAccount.namespace}`,
            'system:authenticated',
          ],
        };
  const decided = authorize({
    ...rest,
    user: who,
    version: '*',
    resourceRequest: path === undefined,
    path: path ?? '',
  });
  const answerOf = ({ decision, reason, error }: Awaited<typeof decided>) => ({
    allowed: decision === 'allow',
    reason,
    ...(error === undefined ? {} : { error }),
  });
  return decided instanceof Promise ? decided.then(answerOf) : answerOf(decided);
}
