import { StatusError } from '../../api/errors/status-error';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/object';
import type { ApiClient } from '../../client/api-client';
import { collectionPath, kindKey, type DiscoveredResource } from '../../client/discovery';
import type { Identity } from './node';

/** The kind is not served in this version now: nothing can be said of its objects. */
export class UnknownKindError extends Error {
  constructor({ apiVersion, kind }: Pick<OwnerReference, 'apiVersion' | 'kind'>) {
    super(`no matches for kind "${kind}" in version "${apiVersion}"`);
  }
}

/** What is in no namespace cannot be owned by what is in one. */
export class NamespacedOwnerError extends Error {
  constructor() {
    super('cluster-scoped objects cannot refer to namespaced owners');
  }
}

/** How often a change of metadata is tried again when others have been faster. */
const ATTEMPTS = 5;

function isCode(error: unknown, code: number): error is StatusError {
  return error instanceof StatusError && error.status.code === code;
}

/** The server does not have the object; a 404 that names no object says that it does not have the kind. */
function isAbsent(error: unknown): boolean {
  return isCode(error, 404) && (error.status.details?.name ?? '') !== '';
}

/** The collector's questions and changes: always about one object, by identity, and never believed from memory. */
export class LiveObjects {
  #kinds: ReadonlyMap<string, DiscoveredResource> = new Map();

  constructor(
    private readonly client: ApiClient,
    private readonly signal: AbortSignal,
  ) {}

  set kinds(kinds: ReadonlyMap<string, DiscoveredResource>) {
    this.#kinds = kinds;
  }

  /** Throws {@link UnknownKindError} when it is not served. */
  resourceOf(reference: Pick<OwnerReference, 'apiVersion' | 'kind'>): DiscoveredResource {
    const resource = this.#kinds.get(kindKey(reference.apiVersion, reference.kind));
    if (resource === undefined) throw new UnknownKindError(reference);
    return resource;
  }

  async get(identity: Identity): Promise<KubeObject | undefined> {
    try {
      return await this.client.getMetadata(this.#pathOf(identity), this.signal);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      if (isCode(error, 404)) throw new UnknownKindError(identity);
      throw error;
    }
  }

  /** Only as it was seen: who has changed it since may have changed its owners. Throws 409 then. */
  async delete(
    identity: Identity,
    { resourceVersion }: ObjectMeta,
    propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  ): Promise<void> {
    const preconditions = { uid: identity.uid, resourceVersion };
    try {
      await this.client.delete(this.#pathOf(identity), { preconditions, propagationPolicy }, this.signal);
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }

  /** Of an object that may have gone, which is as well. `next`: undefined where nothing is to be changed. */
  async changeMetadata(
    identity: Identity,
    next: (metadata: ObjectMeta) => Partial<Pick<ObjectMeta, 'finalizers' | 'ownerReferences'>> | undefined,
  ): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const object = await this.get(identity);
      if (object === undefined || object.metadata.uid !== identity.uid) return;
      const change = next(object.metadata);
      if (change === undefined) return;
      const { uid, resourceVersion } = object.metadata;
      try {
        await this.client.patch(
          this.#pathOf(identity),
          'merge',
          { metadata: { uid, resourceVersion, ...change } },
          this.signal,
        );
        return;
      } catch (error) {
        if (isAbsent(error)) return;
        if (!isCode(error, 409) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  #pathOf(identity: Identity): string {
    const resource = this.resourceOf(identity);
    const { namespace } = identity;
    if (resource.namespaced && namespace === undefined) throw new NamespacedOwnerError();
    const within = resource.namespaced ? namespace : undefined;
    return `${collectionPath(resource, within)}/${encodeURIComponent(identity.name)}`;
  }
}
