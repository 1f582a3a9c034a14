import { REQUEST, StructData } from '../../api/cel/admission-environment';
import { adaptDynamic } from '../../api/cel/data';
import { Authorizers, Check, type AuthorizationQuestion } from '../../api/cel/functions/authorizer';
import type { Value } from '../../api/cel/values';
import type { JsonValue, KubeObject } from '../../api/object';
import { serviceAccountUserName, type UserInfo } from '../../api/user';
import type { Authorizer } from '../../authz/attributes';
import type { AdmissionAttributes } from '../plugin';
import type { ObjectVersions, VersionedResource } from '../versions/object-versions';

/** What expressions see of a request; made once for all that look at it. */
export interface RequestValues {
  readonly variables: Readonly<Record<string, Value>>;
  readonly authorizers: Authorizers;
}

/**
 * How those see a request that are about `seenAs`: its objects are in that version. Throws an Error where they cannot be; ConversionNeeded
 * where a webhook converts.
 */
export function requestValues(
  attributes: AdmissionAttributes,
  seenAs: VersionedResource,
  { toVersion }: Pick<ObjectVersions, 'toVersion'>,
  authorize: Authorizer,
): RequestValues {
  const authorizers = new Authorizers((question) => ask(question, attributes.user, authorize));
  const authorizer = new Check('Authorizer', authorizers, {});
  const { group, resource, subresource, namespace, name, object, oldObject } = attributes;
  return {
    authorizers,
    variables: {
      object: adaptObject(object && toVersion(object, seenAs, attributes)),
      oldObject: adaptObject(oldObject && toVersion(oldObject, seenAs, attributes)),
      request: requestValue(attributes, seenAs),
      authorizer,
      'authorizer.requestResource': authorizer.with('ResourceCheck', { group, resource, subresource, namespace, name }),
    },
  };
}

export function adaptObject(object: KubeObject | undefined): Value {
  return object === undefined ? null : adaptDynamic(object as unknown as JsonValue);
}

function requestValue(attributes: AdmissionAttributes, seenAs: VersionedResource): Value {
  const { operation, group, version, resource, subresource, kind, namespace, name, options, user, dryRun } = attributes;
  return new StructData(REQUEST, {
    kind: seenAs.kind,
    resource: { group: seenAs.group, version: seenAs.version, resource: seenAs.resource },
    subResource: seenAs.subresource,
    requestKind: kind,
    requestResource: { group, version, resource },
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
  const responseOf = ({ decision, reason, error }: Awaited<typeof decided>) => ({
    allowed: decision === 'allow',
    reason,
    ...(error === undefined ? {} : { error }),
  });
  return decided instanceof Promise ? decided.then(responseOf) : responseOf(decided);
}
