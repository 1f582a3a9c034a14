import type { KindDefinition } from '../../api/kinds/kind-definition';
import { parseApiVersion, type KubeObject } from '../../api/object';
import { matchesLabels, type LabelRequirement } from '../../api/selectors/label-selector';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import { eachInTurns } from '../../async/each-in-turns';
import type { Turn } from '../../async/turn';
import type { RegistryReader } from '../../resources/registry-reader';
import { converted } from '../versions/converted';
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
        converted(() =>
          whenKnown(
            namespaced ? reader.getLive(storagePrefix, namespace ?? '', name) : reader.getLive(storagePrefix, name),
            (object) => object && seen(object),
          ),
        ),
      list: (labels, turn) =>
        selected(reader.each(storagePrefix, namespaced ? namespace : undefined), labels, seen, turn),
    };
  };
}

async function* selected(
  objects: Iterable<MaybePromise<KubeObject>>,
  labels: readonly LabelRequirement[],
  seen: (object: KubeObject) => KubeObject,
  turn: Turn,
): AsyncGenerator<KubeObject, void, void> {
  for await (const object of eachInTurns(objects, turn)) {
    if (matchesLabels(labels, object.metadata.labels)) yield await converted(() => seen(object));
  }
}
