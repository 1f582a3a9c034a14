import type { KindDefinition, ServedVersion, TableDefinition } from '../api/kinds/kind-definition';
import type { Schema, StructType } from '../api/schema/model';
import type { ResourceRegistry } from '../registry/resource-registry';

/** What the endpoints ask of a resource's registry. */
export type RegistryOperations = Pick<
  ResourceRegistry,
  'get' | 'list' | 'watch' | 'create' | 'update' | 'delete' | 'deleteCollection' | 'count' | 'watchers'
>;

/** A resource under one of its versions, ready to serve. One record per group, version and resource. */
export interface ServedResource {
  readonly definition: KindDefinition;
  readonly version: ServedVersion;
  /** Absent for kinds that are not stored. */
  readonly registry: RegistryOperations | undefined;
  /** Of this version. */
  readonly type: StructType;
  readonly listKind: string;
  /**
   * Defined by a CustomResourceDefinition: no Protobuf, items of lists carry kind and apiVersion, no strategic merge
   * patch, and apiVersion and kind are required in bodies.
   */
  readonly custom: boolean;
  /** Cells from the object in this version; absent: the definition's, from the stored version. */
  readonly table?: TableDefinition;
  /** A custom resource that is being removed takes no new objects. */
  readonly terminating?: boolean;
}

/** What is served. Custom resources come and go; each lookup is O(1). */
export interface Catalogue {
  resolve(group: string, version: string, resource: string): ServedResource | undefined;
  /** Some built-in version of the group is served: unknown paths in it are answered with a Status. */
  hasBuiltInGroup(group: string): boolean;
  /** The group, version and kind are known (to word a refusal). */
  readonly schema: Schema;
}
