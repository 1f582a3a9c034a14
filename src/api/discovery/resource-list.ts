import { createHash } from 'node:crypto';
import type { KindDefinition, ServedVersion, SubresourceDefinition } from '../kinds/kind-definition';
import { apiVersionOf } from '../object';

/** APIResource of meta/v1. */
export interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

export interface DiscoveryFeatures {
  /** `--feature-gates=StorageVersionHash=false` leaves them out. */
  readonly storageVersionHashes: boolean;
}

/** These lists lack an apiVersion on kube-apiserver, so clients have never seen one. */
const WITHOUT_API_VERSION = new Set(['v1', 'extensions/v1beta1']);

/** Tells the storage migrator when the stored form changes: eight bytes of a digest of group, version and kind. */
export function storageVersionHash({ storage, written, kind }: KindDefinition): string {
  const { group, version } = written ?? storage;
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
}

function nonEmpty<Key extends string>(key: Key, list: readonly string[]): { [K in Key]?: readonly string[] } {
  return list.length === 0 ? {} : ({ [key]: list } as { [K in Key]: readonly string[] });
}

function resourceOf(definition: KindDefinition, version: ServedVersion, withHash: boolean): ApiResource {
  return {
    name: definition.resource,
    singularName: definition.singular,
    namespaced: definition.namespaced,
    kind: definition.kind,
    verbs: version.verbs ?? definition.verbs,
    ...nonEmpty('shortNames', version.shortNames ?? definition.shortNames),
    ...nonEmpty('categories', version.categories ?? definition.categories),
    ...(definition.stored && withHash ? { storageVersionHash: storageVersionHash(definition) } : {}),
  };
}

function subresourceOf(definition: KindDefinition, subresource: SubresourceDefinition): ApiResource {
  const { wireKind } = subresource;
  return {
    name: `${definition.resource}/${subresource.name}`,
    singularName: '',
    namespaced: definition.namespaced,
    ...(wireKind === undefined || wireKind.group === '' ? {} : { group: wireKind.group, version: wireKind.version }),
    kind: wireKind?.kind ?? definition.kind,
    verbs: subresource.verbs,
  };
}

/** As discovery lists them. */
export function byResource(definitions: Iterable<KindDefinition>): readonly KindDefinition[] {
  return [...definitions].sort((a, b) => (a.resource < b.resource ? -1 : a.resource > b.resource ? 1 : 0));
}

/** The answer of `/api/v1` and `/apis/{group}/{version}`, sorted by resource; undefined when nothing is served there. */
export function apiResourceList(
  definitions: Iterable<KindDefinition>,
  group: string,
  version: string,
  { storageVersionHashes }: DiscoveryFeatures = { storageVersionHashes: true },
): { readonly resources: readonly ApiResource[] } | undefined {
  const resources: ApiResource[] = [];
  for (const definition of byResource(definitions)) {
    const served = definition.versions.find((one) => one.group === group && one.version === version);
    if (served === undefined) continue;
    resources.push(
      resourceOf(definition, served, storageVersionHashes),
      ...definition.subresources
        .filter(({ name }) => served.withoutSubresources?.includes(name) !== true)
        .map((subresource) => subresourceOf(definition, subresource)),
    );
  }
  if (resources.length === 0) return undefined;
  const groupVersion = apiVersionOf(group, version);
  return {
    kind: 'APIResourceList',
    ...(WITHOUT_API_VERSION.has(groupVersion) ? {} : { apiVersion: 'v1' }),
    groupVersion,
    resources,
  } as { readonly resources: readonly ApiResource[] };
}
