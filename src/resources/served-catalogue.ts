import { compareVersions } from '../api/custom/version-order';
import type { DiscoveredGroup } from '../api/discovery/groups';
import type { GroupDefinition } from '../api/kinds/groups';
import type { KindDefinition, ServedVersion } from '../api/kinds/kind-definition';
import { apiVersionOf } from '../api/object';
import type { CustomSchemas } from '../api/openapi/definitions';
import type { Schema } from '../api/schema/model';
import type { Catalogue, ServedResource } from './served-resource';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { IsServed } from './runtime-config';

/** A custom resource, ready to be served in all its versions. */
export interface CustomResource {
  readonly definition: KindDefinition;
  /** One per served version, the preferred one first. */
  readonly served: readonly ServedResource[];
  readonly registry: ResourceRegistry;
  /** For OpenAPI, by group, version and kind. */
  readonly schemas: CustomSchemas;
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Everything that is served, by group, version and resource. Custom resources come and go. */
export class ServedCatalogue implements Catalogue {
  readonly schema: Schema;
  /** Served or not: the server itself works with all of them. */
  readonly #known = new Map<string, ServedResource>();
  readonly #builtIn = new Map<string, ServedResource>();
  readonly #custom = new Map<string, ServedResource>();
  readonly #customResources = new Map<string, CustomResource>();
  readonly #registries = new Map<string, ResourceRegistry>();
  readonly #knownDefinitions: readonly KindDefinition[];
  /** What of the groups and kinds is served. */
  readonly #groups: readonly GroupDefinition[];
  readonly #builtInDefinitions: readonly KindDefinition[];
  #generation = 0;
  #view: View | undefined;

  constructor(
    definitions: readonly KindDefinition[],
    groups: readonly GroupDefinition[],
    schema: Schema,
    createRegistry: (definition: KindDefinition, group: string) => ResourceRegistry,
    isServed: IsServed = () => true,
  ) {
    this.schema = schema;
    this.#knownDefinitions = definitions;
    this.#builtInDefinitions = definitions.flatMap((definition) => servedPart(definition, isServed));
    this.#groups = groups.flatMap((group) => servedVersions(group, definitions, isServed));
    for (const definition of definitions) {
      if (definition.stored) this.#createRegistries(definition, createRegistry);
      for (const version of definition.versions) {
        const served = this.#served(definition, version, this.#registries.get(registryKey(definition, version.group)));
        this.#known.set(resourceKey(served), served);
        if (isServed(version.group, version.version, definition.resource))
          this.#builtIn.set(resourceKey(served), served);
      }
    }
  }

  /** The groups of the server's own, with the versions that are served. */
  get builtInGroups(): readonly GroupDefinition[] {
    return this.#groups;
  }

  resolve(group: string, version: string, resource: string): ServedResource | undefined {
    const key = `${group}/${version}/${resource}`;
    return this.#builtIn.get(key) ?? this.#custom.get(key);
  }

  hasBuiltInGroup(group: string): boolean {
    return this.#groups.some(({ name }) => name === group);
  }

  registryOf(group: string, resource: string): ResourceRegistry {
    const { definition } = this.storageVersionOf(group, resource);
    const registry = this.#registries.get(registryKey(definition, group));
    if (registry === undefined) throw new Error(`${resource} are not stored`);
    return registry;
  }

  /** A built-in resource under its storage version. Throws when there is none of that name. */
  storageVersionOf(group: string, resource: string): ServedResource {
    const definition = this.#knownDefinitions.find((one) => one.storage.group === group && one.resource === resource);
    const served = definition && this.#known.get(`${group}/${definition.storage.version}/${resource}`);
    if (served === undefined) throw new Error(`no resource ${resource} is stored in group ${JSON.stringify(group)}`);
    return served;
  }

  /** Serves a custom resource, or serves it otherwise than before. `name`: its definition's. */
  setCustom(name: string, resource: CustomResource): void {
    this.#forget(name);
    this.#customResources.set(name, resource);
    for (const served of resource.served) this.#custom.set(resourceKey(served), served);
    this.#changed();
  }

  removeCustom(name: string): void {
    if (this.#forget(name)) this.#changed();
  }

  /** Changes with every change of what is served. */
  generation(): number {
    return this.#generation;
  }

  definitions(): readonly KindDefinition[] {
    return this.#current.definitions;
  }

  /** Named groups, in order of priority. */
  groups(): readonly DiscoveredGroup[] {
    return this.#current.groups;
  }

  /** Every group and version that is served, the core group included. */
  groupVersions(): readonly GroupVersion[] {
    return this.#current.groupVersions;
  }

  /** The schemas of custom kinds, for OpenAPI. */
  customSchemas(): CustomSchemas {
    return this.#current.schemas;
  }

  get #current(): View {
    return (this.#view ??= viewOf(this.#groups, this.#builtInDefinitions, [...this.#customResources.values()]));
  }

  #forget(name: string): boolean {
    const known = this.#customResources.get(name);
    if (known === undefined) return false;
    this.#customResources.delete(name);
    for (const served of known.served) this.#custom.delete(resourceKey(served));
    return true;
  }

  #changed(): void {
    this.#generation += 1;
    this.#view = undefined;
  }

  /** One for each group under which the kind is served: they differ in what they call it. */
  #createRegistries(
    definition: KindDefinition,
    create: (definition: KindDefinition, group: string) => ResourceRegistry,
  ): void {
    for (const group of new Set([definition.storage.group, ...definition.versions.map((version) => version.group)])) {
      this.#registries.set(registryKey(definition, group), create(definition, group));
    }
  }

  #served(definition: KindDefinition, version: ServedVersion, registry: ResourceRegistry | undefined): ServedResource {
    const type = this.schema.kind(version.group, version.version, definition.kind);
    if (type === undefined) {
      throw new Error(`no type of ${apiVersionOf(version.group, version.version)} ${definition.kind} in the schema`);
    }
    return { definition, version, registry, type, listKind: `${definition.kind}List`, custom: false };
  }
}

/** The definition with the versions that are served, if there are any. */
function servedPart(definition: KindDefinition, isServed: IsServed): readonly KindDefinition[] {
  const versions = definition.versions.filter(({ group, version }) => isServed(group, version, definition.resource));
  if (versions.length === 0) return [];
  return [versions.length === definition.versions.length ? definition : { ...definition, versions }];
}

/** The group with the versions of which something is left, if there are any. */
function servedVersions(
  group: GroupDefinition,
  definitions: readonly KindDefinition[],
  isServed: IsServed,
): readonly GroupDefinition[] {
  const versions = group.versions.filter(({ version }) => {
    const inVersion = definitions.filter((one) =>
      one.versions.some((served) => served.group === group.name && served.version === version),
    );
    return inVersion.length === 0 || inVersion.some(({ resource }) => isServed(group.name, version, resource));
  });
  return versions.length === 0 ? [] : [{ ...group, versions }];
}

function registryKey({ storagePrefix }: KindDefinition, group: string): string {
  return `${group}/${storagePrefix}`;
}

function resourceKey({ definition, version: { group, version } }: ServedResource): string {
  return `${group}/${version}/${definition.resource}`;
}

/** What discovery and OpenAPI tell of everything that is served. */
interface View {
  readonly definitions: readonly KindDefinition[];
  readonly groups: readonly DiscoveredGroup[];
  readonly groupVersions: readonly GroupVersion[];
  readonly schemas: CustomSchemas;
}

/** All groups of custom resources have one priority, below those of the built-in ones: they stand by name after them. */
function viewOf(
  builtInGroups: readonly GroupDefinition[],
  builtIn: readonly KindDefinition[],
  custom: readonly CustomResource[],
): View {
  const versionsOf = new Map<string, Set<string>>();
  for (const { definition } of custom) {
    for (const { group, version } of definition.versions) {
      versionsOf.set(group, (versionsOf.get(group) ?? new Set()).add(version));
    }
  }
  const groups = builtInGroups.map(({ name, versions }): DiscoveredGroup => {
    const own = versions.map(({ version }) => version);
    const added = [...(versionsOf.get(name) ?? [])].filter((version) => !own.includes(version));
    versionsOf.delete(name);
    return { name, versions: [...own, ...added.sort(compareVersions)] };
  });
  const customGroups = [...versionsOf]
    .map(([name, versions]): DiscoveredGroup => ({ name, versions: [...versions].sort(compareVersions) }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  const all = [...groups, ...customGroups];
  return {
    definitions: [...builtIn, ...custom.map(({ definition }) => definition)],
    groups: all.filter(({ name }) => name !== ''),
    groupVersions: all.flatMap(({ name, versions }) => versions.map((version) => ({ group: name, version }))),
    schemas: new Map(custom.flatMap(({ schemas }) => [...schemas])),
  };
}
