import { stringifyExact } from '../api/codec/exact-json';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { customKind } from '../api/custom/custom-kind';
import {
  CLEANUP_FINALIZER,
  hasCondition,
  type CustomResourceDefinition,
} from '../api/custom/custom-resource-definition';
import { deletionCompleted, deletionInProgress, settleNames, takenNames } from '../api/custom/definition-status';
import { StatusError } from '../api/errors/status-error';
import type { KindDefinition } from '../api/kinds/kind-definition';
import type { JsonObject, KubeObject } from '../api/object';
import type { Schema, StructType } from '../api/schema/model';
import { formatTime } from '../api/time/rfc3339';
import { WorkQueue } from '../controllers/work-queue';
import type { ServedResource } from '../http/dependencies';
import type { Logger } from '../observability/logger';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { CacheEntry, RegistryCache, ResourceCache, ResourceDecoder } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import type { CustomResource, ServedCatalogue } from './served-catalogue';

export interface CustomResourcesOptions {
  readonly catalogue: Pick<ServedCatalogue, 'setCustom' | 'removeCustom'>;
  readonly cache: Pick<RegistryCache, 'unregister'>;
  /** Of the definitions. */
  readonly definitions: { readonly cache: ResourceCache; readonly registry: ResourceRegistry };
  readonly createRegistry: (definition: KindDefinition, decoder: ResourceDecoder) => ResourceRegistry;
  /** The built-in one, for the type of every object's metadata. */
  readonly schema: Schema;
  /** Writes down that the server itself has set what differs. */
  readonly trackFields: (live: KubeObject, updated: KubeObject) => KubeObject;
  readonly keyRoot: string;
  /** A resource is not served any more. */
  readonly onRemoved?: () => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
}

interface Known {
  readonly crd: CustomResourceDefinition;
  readonly revision: number;
  /** Where its objects are stored, once they have been served. */
  storagePrefix?: string;
  served?: Served;
}

interface Served {
  /** A digest of what of the definition decides how it is served. */
  readonly fingerprint: string;
  readonly terminating: boolean;
  readonly resource: CustomResource;
}

const RETRY_MS = 100;
/** How soon a definition that waits for its last objects is looked at again. */
const CLEANUP_POLL_MS = 250;

/**
 * Follows the CustomResourceDefinitions: serves what they define, settles whose names are whose, and empties those that
 * are deleted. Every replica does all of it; each write compares what it was made from, so they do not disturb each other.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #objectMeta: StructType;
  readonly #known = new Map<string, Known>();
  readonly #stop = new AbortController();
  readonly #groups: WorkQueue;
  readonly #cleanups: WorkQueue;
  #following: Promise<void> = Promise.resolve();
  #isFollowing = false;
  /** Groups whose names have not been looked at since the start. */
  #unsettled = new Set<string>();

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    const { logger, schema } = options;
    this.#objectMeta = requiredMessage(schema, 'k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta');
    const failed = (key: string, error: unknown): void => {
      logger.warn({ err: error, key }, 'bringing a custom resource definition up to date failed');
    };
    this.#groups = new WorkQueue((group) => this.#settleGroup(group), failed);
    this.#cleanups = new WorkQueue((name) => this.#cleanUp(name), failed);
  }

  /** What is defined now is served when this returns. */
  start(): void {
    const revision = this.#load();
    this.#unsettled = new Set(Array.from(this.#known.values(), ({ crd }) => crd.spec.group));
    this.#following = this.#follow(revision);
  }

  /** What is served follows the definitions. */
  isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Whose names are whose is decided among the definitions that were there at the start. */
  hasSettled(): boolean {
    return this.#unsettled.size === 0;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#following, this.#groups.close(), this.#cleanups.close()]);
  }

  /** Takes in the cache's current state; returns its revision. */
  #load(): Revision {
    const { definitions, keyRoot } = this.#options;
    const snapshot = definitions.cache.snapshot();
    const names = new Set<string>();
    for (const entry of snapshot.entries(`${keyRoot}${definitions.cache.storagePrefix}/`)) {
      names.add(entry.name);
      this.#put(entry);
    }
    for (const name of this.#known.keys()) if (!names.has(name)) this.#delete(name);
    return snapshot.revision;
  }

  async #follow(from: Revision): Promise<void> {
    const { logger, definitions } = this.#options;
    const { signal } = this.#stop;
    let after = from;
    while (!signal.aborted) {
      this.#isFollowing = true;
      try {
        for await (const { events } of definitions.cache.watch(after, signal)) {
          for (const { type, entry } of events) {
            if (type === 'put') this.#put(entry);
            else this.#delete(entry.name);
          }
        }
      } catch (error) {
        logger.warn({ err: error }, 'following custom resource definitions was interrupted');
      }
      this.#isFollowing = false;
      if (signal.aborted) return;
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
      after = this.#load();
    }
  }

  #put(entry: CacheEntry): void {
    const before = this.#known.get(entry.name);
    if (before !== undefined && before.revision >= entry.revision) return;
    const crd = entry.object as CustomResourceDefinition;
    const known: Known = { ...before, crd, revision: entry.revision };
    this.#known.set(entry.name, known);
    try {
      this.#serve(entry.name, known);
    } catch (error) {
      this.#options.logger.error({ err: error, name: entry.name }, 'a custom resource cannot be served');
    }
    this.#groups.add(crd.spec.group);
    if (isEmptying(crd)) this.#cleanups.add(entry.name);
  }

  #delete(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    this.#options.catalogue.removeCustom(name);
    this.#options.onRemoved?.();
    if (known.storagePrefix !== undefined) this.#options.cache.unregister(known.storagePrefix);
    this.#groups.add(known.crd.spec.group);
  }

  #serve(name: string, known: Known): void {
    const { catalogue } = this.#options;
    const { crd } = known;
    if (!hasCondition(crd, 'Established') && !hasCondition(crd, 'NamesAccepted')) return;
    const deciding = stringifyExact([crd.spec, crd.status?.acceptedNames]);
    const fingerprint = createHash('sha1').update(deciding).digest('base64');
    const terminating = Boolean(crd.metadata.deletionTimestamp);
    const { served } = known;
    if (served?.fingerprint === fingerprint) {
      if (served.terminating === terminating) return;
      const resource = { ...served.resource, served: served.resource.served.map((one) => ({ ...one, terminating })) };
      known.served = { fingerprint, terminating, resource };
    } else {
      known.served = { fingerprint, terminating, resource: this.#build(crd, terminating) };
    }
    const { resource } = known.served;
    known.storagePrefix = resource.definition.storagePrefix;
    catalogue.setCustom(name, resource);
  }

  #build(crd: CustomResourceDefinition, terminating: boolean): CustomResource {
    const { createRegistry } = this.#options;
    const { definition, versions, listKind, decoder } = customKind(crd, this.#objectMeta);
    const registry = createRegistry(definition, decoder);
    const served = versions.map((one): ServedResource => ({
      definition: one.definition,
      version: one.version,
      registry,
      type: one.type,
      listKind,
      custom: true,
      table: one.table,
      terminating,
    }));
    const { group } = definition.storage;
    const schemas = new Map<string, JsonObject>(
      versions.map(({ version, schema }) => [`${group}/${version.version}/${definition.kind}`, schema]),
    );
    return { definition, served, registry, schemas };
  }

  /** One definition after the other: a name that one is given is not there for the next. */
  async #settleGroup(group: string): Promise<void> {
    const names = [...this.#known].filter(([, { crd }]) => crd.spec.group === group).map(([name]) => name);
    const taken = () => takenNames(names.flatMap((name) => this.#known.get(name)?.crd ?? []));
    let current = taken();
    for (const name of names) {
      if (this.#known.get(name)?.crd.metadata.deletionTimestamp) continue;
      const changed = await this.#change(name, (crd) => settleNames(crd, current, this.#timestamp()));
      if (changed) current = taken();
    }
    this.#unsettled.delete(group);
  }

  /** Deletes all objects; as long as finalizers hold some, it comes back. */
  async #cleanUp(name: string): Promise<void> {
    const crd = this.#known.get(name)?.crd;
    if (crd === undefined || !isEmptying(crd)) return;
    await this.#change(name, (current) =>
      isEmptying(current) ? deletionInProgress(current, this.#timestamp()) : current,
    );
    const registry = this.#known.get(name)?.served?.resource.registry;
    if (registry !== undefined) {
      const operation = { signal: this.#stop.signal, dryRun: false };
      const everywhere = { namespace: '' };
      await registry.deleteCollection(everywhere, {}, {}, {}, operation);
      const { entries } = await registry.list(everywhere, { limit: 1 }, this.#stop.signal);
      if ([...entries].length > 0) {
        this.#cleanups.addAfter(name, CLEANUP_POLL_MS);
        return;
      }
    }
    await this.#change(name, (current) =>
      isEmptying(current) ? deletionCompleted(current, this.#timestamp()) : current,
    );
  }

  /** Writes what `next` makes of a definition, if it makes another of it: true then. One that is gone needs nothing. */
  async #change(name: string, next: (current: CustomResourceDefinition) => CustomResourceDefinition): Promise<boolean> {
    const known = this.#known.get(name);
    if (known === undefined || next(known.crd) === known.crd) return false;
    const { definitions, trackFields } = this.#options;
    const change = async (current: KubeObject | undefined): Promise<KubeObject> => {
      if (current === undefined) throw new Error(`${name} is gone`);
      const wanted = next(current as CustomResourceDefinition);
      return wanted === current ? current : trackFields(current, wanted);
    };
    try {
      const { entry } = await definitions.registry.update(
        { namespace: '' },
        name,
        { change, retryOnConflict: true },
        { signal: this.#stop.signal, dryRun: false },
        {},
      );
      if (!isGone(entry.object as CustomResourceDefinition)) this.#put(entry);
    } catch (error) {
      if (!(error instanceof StatusError && error.status.reason === 'NotFound')) throw error;
    }
    return true;
  }

  #timestamp(): string {
    return formatTime(this.#options.now() / 1000);
  }
}

function requiredMessage(schema: Schema, name: string): StructType {
  const type = schema.message(name);
  if (type === undefined) throw new Error(`the schema has no ${name}`);
  return type;
}

/** Deleted, and held for the sake of its objects. */
function isEmptying({ metadata }: CustomResourceDefinition): boolean {
  return Boolean(metadata.deletionTimestamp) && (metadata.finalizers ?? []).includes(CLEANUP_FINALIZER);
}

/** The last state of a definition that nothing holds. */
function isGone({ metadata }: CustomResourceDefinition): boolean {
  return Boolean(metadata.deletionTimestamp) && (metadata.finalizers ?? []).length === 0;
}
