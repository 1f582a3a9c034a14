import { forbidden } from '../api/errors/status-error';
import type { Authorizer } from '../authz/attributes';
import { RBAC_GROUP, type RbacWrite } from '../authz/escalation';
import type { AdmissionChain } from '../admission/chain';
import type { AdmissionAttributes } from '../admission/plugin';

const GUARDED = new Set(['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']);

/**
 * Checks of authorization that need the object, around the admission plugins: nobody gives away more than they hold, and
 * an update that creates needs the right to create. Neither can be turned off.
 */
export function guardedAdmission(
  admission: AdmissionChain,
  authorize: Authorizer,
  guard: (write: RbacWrite) => Promise<void>,
): AdmissionChain {
  return {
    mutate: async (request) => {
      const object = await admission.mutate(request);
      const { group, resource, operation, subresource } = request;
      if (object === undefined || operation === 'DELETE' || subresource !== '') return object;
      if (group === RBAC_GROUP && GUARDED.has(resource)) {
        const { namespace, name, user, oldObject } = request;
        await guard({ resource, namespace, name, user, object, oldObject });
      }
      return object;
    },
    validate: async (request) => {
      if (isCreateOnUpdate(request)) await checkCreate(request, authorize);
      await admission.validate(request);
    },
  };
}

function isCreateOnUpdate({ operation, options }: AdmissionAttributes): boolean {
  return operation === 'CREATE' && (options.kind === 'UpdateOptions' || options.kind === 'PatchOptions');
}

async function checkCreate(request: AdmissionAttributes, authorize: Authorizer): Promise<void> {
  const { user, group, version, resource, subresource, namespace, name } = request;
  const { decision, reason } = await authorize({
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
  if (decision !== 'allow') throw forbidden({ group, resource }, name, reason);
}
