import { notFound } from '../api/errors/status-error';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { AdmissionPlugin } from './plugin';

/** NamespaceExists: no change in a namespace that does not exist. `getNamespace` must see one created just now. */
export function namespaceExists(getNamespace: (name: string) => MaybePromise<KubeObject | undefined>): AdmissionPlugin {
  return {
    name: 'NamespaceExists',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    validate: async ({ group, resource, namespace }) => {
      if (namespace === '' || (group === '' && resource === 'namespaces')) return;
      if ((await getNamespace(namespace)) === undefined)
        throw notFound({ group: '', resource: 'namespaces' }, namespace);
    },
  };
}
