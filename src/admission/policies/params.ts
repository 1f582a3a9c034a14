import type { KindDefinition } from '../../api/kinds/kind-definition';
import { parseApiVersion } from '../../api/object';
import type { RegistryReader } from '../../resources/registry-reader';
import type { PolicyDependencies } from './validating-admission-policy';

/** Where the parameters of policies are read: objects of any kind that is served, from memory. */
export function policyParams(
  reader: RegistryReader,
  findResource: (group: string, version: string, kind: string) => KindDefinition | undefined,
): PolicyDependencies['params'] {
  return ({ apiVersion, kind }, namespace) => {
    const { group, version } = parseApiVersion(apiVersion);
    const definition = findResource(group, version, kind);
    if (definition === undefined) return undefined;
    const { namespaced, storagePrefix } = definition;
    return {
      namespaced,
      get: (name) =>
        namespaced ? reader.getLive(storagePrefix, namespace ?? '', name) : reader.getLive(storagePrefix, name),
      list: () => reader.list(storagePrefix, namespaced ? namespace : undefined),
    };
  };
}
