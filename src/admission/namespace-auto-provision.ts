import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { AdmissionPlugin } from './plugin';

/** What the plugin reads and writes. */
export interface NamespaceProvisioning {
  /** Must see a namespace that was created just now. */
  readonly getNamespace: (name: string) => MaybePromise<KubeObject | undefined>;
  /** Does nothing when it is there. */
  readonly createNamespace: (name: string, signal: AbortSignal) => Promise<void>;
}

/** NamespaceAutoProvision: a namespace comes into being with the first object in it. */
export function namespaceAutoProvision({ getNamespace, createNamespace }: NamespaceProvisioning): AdmissionPlugin {
  return {
    name: 'NamespaceAutoProvision',
    operations: ['CREATE'],
    mutate: async ({ group, resource, namespace, object, dryRun, signal }) => {
      const isNamespace = group === '' && resource === 'namespaces';
      if (dryRun || namespace === '' || isNamespace) return object;
      if ((await getNamespace(namespace)) === undefined) await createNamespace(namespace, signal());
      return object;
    },
  };
}
