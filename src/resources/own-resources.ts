import type { KubeObject } from '../api/object';
import type { Steps } from '../api/parts';
import type { Strategy } from '../api/kinds/kind-definition';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { OperationContext, WriteResult } from '../registry/types';
import type { FieldOwnership, TrackedUpdate } from './field-ownership';
import type { ServedCatalogue } from './served-catalogue';
import type { ServedResource } from './served-resource';

/** The name under which the server owns the fields of what it writes itself. */
const OWN_MANAGER = 'kube-apiserver';

/** How the server changes one object of its own. */
export interface OwnUpdate {
  /** Empty for what is cluster-scoped. */
  readonly namespace: string;
  readonly name: string;
  /** From what stands there to what is wanted: the same object when nothing has to change. Called again after a conflict. */
  readonly change: (current: KubeObject | undefined) => KubeObject;
  readonly createIfMissing?: boolean;
  /** A subresource's, or one that resets nothing; absent: the kind's own. */
  readonly strategy?: Strategy;
}

/**
 * A resource as the server itself writes it, in its storage version: as the owner of the fields that it sets, and without
 * asking admission.
 */
export class OwnResource {
  readonly served: ServedResource;
  readonly registry: ResourceRegistry;
  readonly #ownership: FieldOwnership;
  readonly #manager: string;

  constructor(served: ServedResource, registry: ResourceRegistry, ownership: FieldOwnership, manager = OWN_MANAGER) {
    this.served = served;
    this.registry = registry;
    this.#ownership = ownership;
    this.#manager = manager;
  }

  /** `updated` with the server as the owner of what differs from `live`. */
  own(live: KubeObject | undefined, updated: KubeObject): KubeObject {
    if (live === updated) return updated;
    return this.#ownership.trackUpdate(this.#changeOf(live, updated));
  }

  /** The same for a large object. */
  ownInSteps(live: KubeObject | undefined, updated: KubeObject): Steps<KubeObject> {
    return this.#ownership.trackUpdateInSteps(this.#changeOf(live, updated));
  }

  #changeOf(live: KubeObject | undefined, updated: KubeObject): TrackedUpdate {
    return { served: this.served, live, updated, manager: this.#manager };
  }

  /** Throws a StatusError, AlreadyExists among them. */
  create(object: KubeObject, context: OperationContext): Promise<WriteResult> {
    const { namespace = '' } = object.metadata;
    return this.registry.create({ namespace }, this.own(undefined, object), {}, context);
  }

  /** Throws a StatusError: NotFound unless it may be created. */
  update(update: OwnUpdate, context: OperationContext): Promise<WriteResult> {
    const { namespace, name, change, createIfMissing, strategy } = update;
    const hooks = {
      change: (current: KubeObject | undefined) => this.own(current, change(current)),
      retryOnConflict: true,
      ...(createIfMissing === undefined ? {} : { createIfMissing }),
    };
    return this.registry.update({ namespace }, name, hooks, context, strategy);
  }
}

/** The built-in resource of that name. Throws when there is none. `manager`: the name under which the server owns what it writes. */
export type OwnResources = (group: string, resource: string, manager?: string) => OwnResource;

/** What the server writes itself, of everything that it knows. */
export function ownResources(catalogue: ServedCatalogue, ownership: FieldOwnership): OwnResources {
  return (group, resource, manager) =>
    new OwnResource(
      catalogue.storageVersionOf(group, resource),
      catalogue.registryOf(group, resource),
      ownership,
      manager,
    );
}
