import { forbidden } from '../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import type { Authorizer } from '../authz/attributes';
import { RBAC_GROUP, type RbacWrite } from '../authz/escalation';
import type { AdmissionChain } from './chain';
import type { AdmissionAttributes } from './plugin';

const GUARDED = new Set(['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']);

/**
 * Checks of authorization that need the object, around the admission plugins: users give away no more than they hold, and
 * an update that creates needs the right to create. Neither can be turned off.
 */
export function guardedAdmission(
  admission: AdmissionChain,
  authorize: Authorizer,
  guard: (write: RbacWrite) => Promise<void>,
): AdmissionChain {
  return {
    mutate: (request) =>
      whenKnown(admission.mutate(request), (object) => {
        const { group, resource, operation, subresource, namespace, name, user, oldObject } = request;
        if (object === undefined || operation === 'DELETE' || subresource !== '') return object;
        if (group !== RBAC_GROUP || !GUARDED.has(resource)) return object;
        return guard({ resource, namespace, name, user, object, oldObject }).then(() => object);
      }),
    validate: (request) =>
      isCreateOnUpdate(request)
        ? whenKnown(checkCreate(request, authorize), () => admission.validate(request))
        : admission.validate(request),
  };
}

function isCreateOnUpdate({ operation, options }: AdmissionAttributes): boolean {
  return operation === 'CREATE' && (options.kind === 'UpdateOptions' || options.kind === 'PatchOptions');
}

function checkCreate(request: AdmissionAttributes, authorize: Authorizer): MaybePromise<void> {
  const { user, group, version, resource, subresource, namespace, name } = request;
  const response = authorize({
    user,
    verb: 'create',
    resourceRequest: true,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    path: '',
  });
  return whenKnown(response, ({ decision, reason }) => {
    if (decision !== 'allow') throw forbidden({ group, resource }, name, reason);
  });
}
