import type { KubeObject } from '../api/object';
import type { ApiClient } from '../client/api-client';
import { runInformer } from '../client/informer';

function isActive(namespace: KubeObject): boolean {
  return ((namespace.status ?? {}) as { readonly phase?: string }).phase !== 'Terminating';
}

/**
 * Keeps `active` the names of all namespaces that are not being deleted, and tells of each that comes to them. Returns
 * when the signal aborts.
 */
export function followActiveNamespaces(
  client: ApiClient,
  active: Set<string>,
  handlers: { readonly activated: (name: string) => void; readonly failed: (error: unknown) => void },
  signal: AbortSignal,
): Promise<void> {
  return runInformer(
    client,
    '/api/v1/namespaces',
    {
      changed: (namespace) => {
        const { name = '' } = namespace.metadata;
        if (!isActive(namespace)) active.delete(name);
        else if (!active.has(name)) {
          active.add(name);
          handlers.activated(name);
        }
      },
      deleted: ({ metadata: { name = '' } }) => active.delete(name),
      failed: handlers.failed,
    },
    signal,
  );
}
