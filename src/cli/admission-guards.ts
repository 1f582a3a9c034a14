import { forbidden } from '../api/errors/status-error';
import type { Authorizer } from '../authz/attributes';
import { RBAC_GROUP, type RbacWrite } from '../authz/escalation';
import type { Admission, AdmissionRequest } from '../http/dependencies';

const GUARDED = new Set(['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']);

/**
 * Checks of authorization that need the object, around the admission plugins: nobody gives away more than they hold, and
 * an update that creates needs the right to create. Neither can be turned off.
 */
export function guardedAdmission(
  admission: Admission,
  authorize: Authorizer,
  guard: (write: RbacWrite) => Promise<void>,
): Admission {
  return {
    mutate: async (request) => {
      const object = await admission.mutate(request);
      const { resource, operation, subresource } = request;
      if (object === undefined || operation === 'DELETE' || subresource !== '') return object;
      if (resource.group === RBAC_GROUP && GUARDED.has(resource.resource)) {
        const { namespace, name, user, oldObject } = request;
        await guard({ resource: resource.resource, namespace, name, user, object, oldObject });
      }
      return object;
    },
    validate: async (request) => {
      if (isCreateOnUpdate(request)) await checkCreate(request, authorize);
      await admission.validate(request);
    },
  };
}

function isCreateOnUpdate({ operation, options }: AdmissionRequest): boolean {
  return operation === 'CREATE' && (options.kind === 'UpdateOptions' || options.kind === 'PatchOptions');
}

async function checkCreate(request: AdmissionRequest, authorize: Authorizer): Promise<void> {
  const { user, resource, subresource, namespace, name } = request;
  const { decision, reason } = await authorize({
    user,
    verb: 'create',
    resourceRequest: true,
    ...resource,
    subresource,
    namespace,
    name,
    path: '',
  });
  if (decision !== 'allow') throw forbidden(resource, name, reason);
}
