import type { KubeObject } from '../api/object';
import type { ControllerRun } from './controller';

function isActive(namespace: KubeObject): boolean {
  return ((namespace.status ?? {}) as { readonly phase?: string }).phase !== 'Terminating';
}

/** The names of all namespaces that are not being deleted, kept up to date; `activated` is told of each that comes. */
export function followActiveNamespaces(
  { follow }: ControllerRun,
  activated: (name: string) => void,
): ReadonlySet<string> {
  const active = new Set<string>();
  follow({
    path: '/api/v1/namespaces',
    keep: ({ metadata: { name = '', resourceVersion = '' } }) => ({ metadata: { name, resourceVersion } }),
    changed: (namespace) => {
      const { name = '' } = namespace.metadata;
      if (!isActive(namespace)) active.delete(name);
      else if (!active.has(name)) {
        active.add(name);
        activated(name);
      }
    },
    deleted: ({ metadata: { name = '' } }) => active.delete(name),
  });
  return active;
}
