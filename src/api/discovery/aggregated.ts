import type { KindDefinition, ServedVersion } from '../kinds/kind-definition';
import { apiVersionOf } from '../object';
import type { DiscoveredGroup } from './groups';
import { byResource } from './resource-list';

/** APIGroupDiscoveryList of apidiscovery.k8s.io, v2 and v2beta1 alike: the whole of discovery in one answer. */
export type AggregatedVersion = 'v2' | 'v2beta1';

export const DISCOVERY_GROUP = 'apidiscovery.k8s.io';

function responseKind(group: string, version: string, kind: string): object {
  return { group, version, kind };
}

function resourceOf(definition: KindDefinition, version: ServedVersion): object {
  const shortNames = version.shortNames ?? definition.shortNames;
  const categories = version.categories ?? definition.categories;
  const subresources = definition.subresources.filter(
    ({ name }) => version.withoutSubresources?.includes(name) !== true,
  );
  return {
    resource: definition.resource,
    responseKind: responseKind(version.group, version.version, definition.kind),
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular === '' ? definition.kind.toLowerCase() : definition.singular,
    verbs: version.verbs ?? definition.verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map(({ name, verbs, wireKind }) => ({
            subresource: name,
            responseKind:
              wireKind === undefined
                ? responseKind(version.group, version.version, definition.kind)
                : responseKind(wireKind.group, wireKind.version, wireKind.kind),
            verbs,
          })),
        }
      : {}),
  };
}

/** The resources of every group and version, in order. */
function resourcesByVersion(definitions: readonly KindDefinition[]): ReadonlyMap<string, readonly object[]> {
  const found = new Map<string, object[]>();
  for (const definition of byResource(definitions)) {
    for (const served of definition.versions) {
      const key = `${served.group}/${served.version}`;
      const resources = found.get(key) ?? [];
      resources.push(resourceOf(definition, served));
      found.set(key, resources);
    }
  }
  return found;
}

/** What is known of a group version that another server serves. */
export interface AggregatedResources {
  readonly resources: readonly object[];
  /** `Stale`: the other server does not answer now. */
  readonly freshness: 'Current' | 'Stale';
}

const NOTHING_REMOTE: ReadonlyMap<string, AggregatedResources> = new Map();

/** The answer of `/api` (the core group alone) or `/apis` (all others) to a client that accepts aggregated discovery. `remote`: by `group/version`. */
export function aggregatedDiscovery(
  definitions: readonly KindDefinition[],
  groups: readonly DiscoveredGroup[],
  version: AggregatedVersion,
  remote = NOTHING_REMOTE,
): object {
  const resources = resourcesByVersion(definitions);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: apiVersionOf(DISCOVERY_GROUP, version),
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? { creationTimestamp: null } : { name, creationTimestamp: null },
      versions: versions.map((one) => ({
        version: one,
        ...(remote.get(`${name}/${one}`) ?? { resources: resources.get(`${name}/${one}`) ?? [], freshness: 'Current' }),
      })),
    })),
  };
}
