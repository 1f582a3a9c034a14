import type { DiscoveredGroup } from '../api/discovery/groups';
import type { GroupDefinition } from '../api/kinds/groups';
import type { KindDefinition, ServedVersion } from '../api/kinds/kind-definition';
import { apiVersionOf } from '../api/object';
import type { Schema } from '../api/schema/model';
import type { Catalogue, ServedResource } from '../http/dependencies';
import type { ResourceRegistry } from '../registry/resource-registry';

/** Everything that is served, by group, version and resource. */
export class ServedCatalogue implements Catalogue {
  readonly schema: Schema;
  readonly #resources = new Map<string, ServedResource>();
  readonly #registries = new Map<string, ResourceRegistry>();
  readonly #groups: readonly GroupDefinition[];
  readonly #definitions: readonly KindDefinition[];

  constructor(
    definitions: readonly KindDefinition[],
    groups: readonly GroupDefinition[],
    schema: Schema,
    createRegistry: (definition: KindDefinition) => ResourceRegistry,
  ) {
    this.schema = schema;
    this.#groups = groups;
    this.#definitions = definitions;
    for (const definition of definitions) {
      const registry = definition.stored ? createRegistry(definition) : undefined;
      if (registry !== undefined) this.#registries.set(definition.storagePrefix, registry);
      for (const version of definition.versions) this.#serve(definition, version, registry);
    }
  }

  resolve(group: string, version: string, resource: string): ServedResource | undefined {
    return this.#resources.get(`${group}/${version}/${resource}`);
  }

  hasBuiltInGroup(group: string): boolean {
    return this.#groups.some(({ name }) => name === group);
  }

  registryOf(group: string, resource: string): ResourceRegistry {
    const { storagePrefix } = this.storageVersionOf(group, resource).definition;
    const registry = this.#registries.get(storagePrefix);
    if (registry === undefined) throw new Error(`${resource} are not stored`);
    return registry;
  }

  /** A built-in resource under its storage version. Throws when there is none of that name. */
  storageVersionOf(group: string, resource: string): ServedResource {
    const definition = this.#definitions.find((one) => one.storage.group === group && one.resource === resource);
    const served = definition && this.resolve(group, definition.storage.version, resource);
    if (served === undefined) throw new Error(`no resource ${resource} is stored in group ${JSON.stringify(group)}`);
    return served;
  }

  definitions(): readonly KindDefinition[] {
    return this.#definitions;
  }

  /** Named groups, in order of priority. */
  groups(): readonly DiscoveredGroup[] {
    return this.#groups
      .filter(({ name }) => name !== '')
      .map(({ name, versions }) => ({ name, versions: versions.map(({ version }) => version) }));
  }

  /** Every group and version that is served, the core group included. */
  groupVersions(): readonly { readonly group: string; readonly version: string }[] {
    return this.#groups.flatMap(({ name, versions }) => versions.map(({ version }) => ({ group: name, version })));
  }

  #serve(definition: KindDefinition, version: ServedVersion, registry: ResourceRegistry | undefined): void {
    const type = this.schema.kind(version.group, version.version, definition.kind);
    if (type === undefined) {
      throw new Error(`no type of ${apiVersionOf(version.group, version.version)} ${definition.kind} in the schema`);
    }
    this.#resources.set(`${version.group}/${version.version}/${definition.resource}`, {
      definition,
      version,
      registry,
      type,
      listKind: `${definition.kind}List`,
      custom: false,
    });
  }
}
