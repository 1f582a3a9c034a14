import { printYaml } from '../codec/yaml-print';
import type { KindDefinition, ServedVersion } from '../kinds/kind-definition';
import { apiVersionOf } from '../object';
import type { Steps } from '../parts';
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

/** The resources of every group and version, in order, as `describe` tells of them. */
function* resourcesByVersion<Described>(
  definitions: readonly KindDefinition[],
  describe: (definition: KindDefinition, version: ServedVersion) => Described,
): Steps<ReadonlyMap<string, readonly Described[]>> {
  const found = new Map<string, Described[]>();
  for (const definition of byResource(definitions)) {
    for (const served of definition.versions) {
      const key = `${served.group}/${served.version}`;
      const resources = found.get(key) ?? [];
      resources.push(describe(definition, served));
      found.set(key, resources);
    }
    yield;
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

interface AggregatedDiscovery {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly items: readonly object[];
}

/**
 * The answer of `/api` (the core group alone) or `/apis` (all others) to a client that accepts aggregated discovery. There may be many
 * kinds: hence the steps. `remote`: by `group/version`.
 */
export function* aggregatedDiscovery(
  definitions: readonly KindDefinition[],
  groups: readonly DiscoveredGroup[],
  version: AggregatedVersion,
  remote = NOTHING_REMOTE,
): Steps<AggregatedDiscovery> {
  const resources = yield* resourcesByVersion(definitions, resourceOf);
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

/** What `printYaml` makes of it, a group at a time. */
export function* printDiscoveryYaml({ apiVersion, items, ...rest }: AggregatedDiscovery): Steps<string> {
  if (items.length === 0) return printYaml({ apiVersion, items, ...rest });
  // Keys are sorted, and a list stands as deep as its key.
  const pieces = [printYaml({ apiVersion }), 'items:\n'];
  for (const item of items) {
    pieces.push(printYaml([item]));
    yield;
  }
  pieces.push(printYaml(rest));
  return pieces.join('');
}

/** What was printed of a kind stays for as long as the kind. */
const printed = new WeakMap<KindDefinition, Map<ServedVersion, string>>();

function printedResource(definition: KindDefinition, version: ServedVersion): string {
  let known = printed.get(definition);
  if (known === undefined) printed.set(definition, (known = new Map<ServedVersion, string>()));
  let text = known.get(version);
  if (text === undefined) known.set(version, (text = JSON.stringify(resourceOf(definition, version))));
  return text;
}

/** As {@link aggregatedDiscovery}, in JSON: where there are many kinds, one that changes costs what is new of it. */
export function* printAggregatedDiscovery(
  definitions: readonly KindDefinition[],
  groups: readonly DiscoveredGroup[],
  version: AggregatedVersion,
  remote = NOTHING_REMOTE,
): Steps<string> {
  const resources = yield* resourcesByVersion(definitions, printedResource);
  const ofVersion = (group: string, one: string): string => {
    const elsewhere = remote.get(`${group}/${one}`);
    if (elsewhere !== undefined) return JSON.stringify({ version: one, ...elsewhere });
    const list = resources.get(`${group}/${one}`)?.join() ?? '';
    return `{"version":${JSON.stringify(one)},"resources":[${list}],"freshness":"Current"}`;
  };
  const items: string[] = [];
  for (const { name, versions } of groups) {
    const metadata = name === '' ? '' : `"name":${JSON.stringify(name)},`;
    const list = versions.map((one) => ofVersion(name, one)).join();
    items.push(`{"metadata":{${metadata}"creationTimestamp":null},"versions":[${list}]}`);
    yield;
  }
  const apiVersion = JSON.stringify(apiVersionOf(DISCOVERY_GROUP, version));
  return `{"kind":"APIGroupDiscoveryList","apiVersion":${apiVersion},"metadata":{},"items":[${items.join()}]}`;
}
