import type { KindDefinition } from '../../api/kinds/kind-definition';
import { parseApiVersion, type KubeObject } from '../../api/object';
import { matchesLabels } from '../../api/selectors/label-selector';
import { whenKnown } from '../../api/maybe-promise';
import type { RegistryReader } from '../../resources/registry-reader';
import type { ObjectVersions } from '../versions/object-versions';
import type { PolicyDependencies } from './validating-admission-policy';

/** Where the parameters of policies are read: objects of any kind that is served, from memory, in the version that a policy names. */
export function policyParams(
  reader: RegistryReader,
  findResource: (group: string, version: string, kind: string) => KindDefinition | undefined,
  { toVersion }: Pick<ObjectVersions, 'toVersion'>,
): PolicyDependencies['params'] {
  return ({ apiVersion, kind }, namespace) => {
    const { group, version } = parseApiVersion(apiVersion);
    const definition = findResource(group, version, kind);
    if (definition === undefined) return undefined;
    const { namespaced, storagePrefix, resource } = definition;
    const wanted = { group, version, resource, subresource: '', kind: { group, version, kind } };
    const seen = (object: KubeObject): KubeObject => toVersion(object, wanted, { options: {} });
    return {
      namespaced,
      get: (name) =>
        whenKnown(
          namespaced ? reader.getLive(storagePrefix, namespace ?? '', name) : reader.getLive(storagePrefix, name),
          (object) => object && seen(object),
        ),
      list: (labels) =>
        [...reader.list(storagePrefix, namespaced ? namespace : undefined)]
          .filter((object) => matchesLabels(labels, object.metadata.labels))
          .map(seen),
    };
  };
}
