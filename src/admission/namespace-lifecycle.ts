import { notFound, StatusError } from '../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);

/** Answered without a namespace's existence: who may do what there can be asked before it is made. */
const ACCESS_REVIEWS = new Set(['localsubjectaccessreviews']);

function terminating(attributes: AdmissionAttributes): StatusError {
  const { namespace } = attributes;
  const { status } = refuse(
    attributes,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  return new StatusError(status.code, status.reason, status.message ?? '', {
    ...status.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  });
}

/**
 * NamespaceLifecycle: nothing is created in a namespace that does not exist or is being deleted, and the namespaces that
 * a cluster cannot do without are never deleted. `getNamespace` must see a namespace that was created just now.
 */
export function namespaceLifecycle(
  getNamespace: (name: string) => MaybePromise<KubeObject | undefined>,
): AdmissionPlugin {
  const check = (attributes: AdmissionAttributes): MaybePromise<void> => {
    const { operation, group, resource, namespace, name } = attributes;
    const isNamespace = group === '' && resource === 'namespaces';
    if (isNamespace && operation === 'DELETE' && IMMORTAL.has(name)) {
      throw refuse(attributes, 'this namespace may not be deleted');
    }
    if (isNamespace || namespace === '' || operation === 'DELETE' || ACCESS_REVIEWS.has(resource)) return;
    return whenKnown(getNamespace(namespace), (found) => {
      if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
      const { phase } = (found.status ?? {}) as { readonly phase?: string };
      if (operation === 'CREATE' && phase === 'Terminating') throw terminating(attributes);
    });
  };
  return {
    name: 'NamespaceLifecycle',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    check,
  };
}
