import { stringifyExact } from '../api/codec/exact-json';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Completion } from '../api/completion';
import { customKind, type CustomKind } from '../api/custom/custom-kind';
import {
  CLEANUP_FINALIZER,
  hasCondition,
  isConvertedByWebhook,
  storageVersionOf,
  type CustomResourceDefinition,
} from '../api/custom/custom-resource-definition';
import { prepareStructuralViolations } from '../api/custom/structural-condition';
import { deletionCompleted, deletionInProgress, settleNames, takenNames } from '../api/custom/definition-status';
import { StatusError } from '../api/errors/status-error';
import type { MaybePromise } from '../api/maybe-promise';
import type { KindDefinition, RequestedVersion } from '../api/kinds/kind-definition';
import { apiVersionOf, parseApiVersion, type JsonObject, type KubeObject } from '../api/object';
import type { Schema, StructType } from '../api/schema/model';
import { formatTime } from '../api/time/rfc3339';
import { webhookTarget } from '../api/webhook-target';
import { runSteps, stepsInTurns } from '../async/steps';
import { Turn } from '../async/turn';
import { WorkQueue, type QueueMetrics } from '../async/work-queue';
import { ConversionWebhook, type CallConversionWebhook, type ConversionSettings } from './conversion-webhook';
import { ConversionMemory } from './converted-entries';
import { WebhookConversion } from './webhook-conversion';
import type { EntryConversion } from '../registry/entry-conversion';
import type { OwnResource } from './own-resources';
import type { ServedResource } from './served-resource';
import type { Logger } from '../observability/logger';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { CacheEntry, RegistryCache, ResourceCache, ResourceDecoder } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import { followResource } from './follow-resource';
import type { CustomResource, ServedCatalogue } from './served-catalogue';

export interface CustomResourcesOptions {
  readonly catalogue: Pick<ServedCatalogue, 'setCustom' | 'removeCustom'>;
  readonly cache: Pick<RegistryCache, 'prepare' | 'unregister'>;
  /** Of the definitions. */
  readonly definitions: { readonly cache: ResourceCache; readonly own: OwnResource };
  readonly createRegistry: (
    definition: KindDefinition,
    decoder: ResourceDecoder,
    conversion?: EntryConversion,
  ) => ResourceRegistry;
  /** Asks the webhooks that convert between versions. */
  readonly callConversion: CallConversionWebhook;
  /** The built-in one, for the type of every object's metadata. */
  readonly schema: Schema;
  readonly keyRoot: string;
  /** A resource is not served any more. */
  readonly onRemoved?: (gone: { readonly group: string; readonly resource: string }) => void;
  /** Milliseconds since the epoch. */
  readonly queueMetrics?: (name: string, queue: WorkQueue) => QueueMetrics;
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
  /** The same as long as nothing changes of the definition that decides how it is served. */
  readonly fingerprint: string;
  readonly terminating: boolean;
  readonly resource: CustomResource;
  readonly conversion: Conversion | undefined;
}

/** A webhook, and when it is not asked any more. */
interface Conversion {
  readonly by: WebhookConversion;
  readonly end: () => void;
}

/** All definitions that there are. */
interface Definitions {
  readonly revision: Revision;
  readonly names: ReadonlySet<string>;
  /** Those that were not known, or were known otherwise. */
  readonly changed: readonly CustomResourceDefinition[];
}

const UNREADABLE_RETRY_MS = 1_000;
/** For the log. */
const WORK = 'custom resource definitions';
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
  /** The names of those that are known, by group. */
  readonly #namesIn = new Map<string, Set<string>>();
  readonly #stop = new AbortController();
  readonly #groups: WorkQueue;
  readonly #settling = new Turn(WORK);
  readonly #cleanups: WorkQueue;
  /** Definitions whose many stored objects are being brought into the form that they ask for. */
  readonly #preparing = new Map<string, Promise<void>>();
  readonly #conversionMemory = new ConversionMemory();
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
    this.#groups = new WorkQueue((group) => this.#settleGroup(group), failed, {
      metrics: (queue) => options.queueMetrics?.('crd_naming_condition_controller', queue),
    });
    this.#cleanups = new WorkQueue((name) => this.#cleanUp(name), failed, {
      metrics: (queue) => options.queueMetrics?.('crd_finalizer', queue),
    });
  }

  /** What is defined now is served when this resolves. */
  async start(): Promise<void> {
    await this.#untilReadable();
    const { logger, definitions } = this.#options;
    const turn = new Turn(WORK);
    await new Promise<void>((caughtUp) => {
      this.#following = followResource(
        {
          resource: definitions.cache,
          list: () => this.#list(),
          apply: async ({ type, entry }) => {
            // One may be large, and has just been decoded.
            await turn.next();
            if (type === 'put') await this.#put(entry);
            else this.#delete(entry.name);
          },
          following: (isFollowing) => {
            this.#isFollowing = isFollowing;
            if (isFollowing) caughtUp();
          },
          interrupted: (error) => logger.warn({ err: error }, 'following custom resource definitions was interrupted'),
        },
        this.#stop.signal,
      ).finally(caughtUp);
    });
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
    for (const { served } of this.#known.values()) served?.conversion?.end();
    await Promise.all([this.#following, ...this.#preparing.values(), this.#groups.close(), this.#cleanups.close()]);
  }

  /** No client may be told that a resource does not exist because its definition cannot be decrypted yet. */
  async #untilReadable(): Promise<void> {
    const { definitions, keyRoot, logger } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      const problem = definitions.cache.problemIn(`${keyRoot}${definitions.cache.storagePrefix}/`);
      if (problem === undefined || signal.aborted) return;
      logger.warn({ err: problem }, 'waiting for custom resource definitions to be readable');
      await delay(UNREADABLE_RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #list(): Promise<Revision> {
    const isFirst = this.#known.size === 0;
    const { revision, names, changed } = await this.#knowAll();
    if (isFirst) this.#unsettled = new Set(changed.map(({ spec }) => spec.group));
    // Whose names are whose is decided among all: so it is not looked at before all are known.
    for (const crd of changed) this.#settle(crd);
    const turn = new Turn(WORK);
    for (const name of names) {
      await this.#serve(name);
      if (turn.isOver) await turn.next();
    }
    return revision;
  }

  async #knowAll(): Promise<Definitions> {
    const { definitions, keyRoot } = this.#options;
    const snapshot = definitions.cache.snapshot();
    const names = new Set<string>();
    const changed: CustomResourceDefinition[] = [];
    const turn = new Turn(WORK);
    for (const entry of snapshot.entries(`${keyRoot}${definitions.cache.storagePrefix}/`)) {
      names.add(entry.name);
      const reading = entry.prepare();
      if (reading !== undefined) await stepsInTurns(reading, turn);
      if (this.#know(entry)) changed.push(entry.object as CustomResourceDefinition);
      if (turn.isOver) await turn.next();
    }
    const isUnreadable = (name: string): boolean =>
      definitions.cache.problemOf(`${keyRoot}${definitions.cache.storagePrefix}/${name}`) !== undefined;
    for (const name of this.#known.keys()) if (!names.has(name) && !isUnreadable(name)) this.#delete(name);
    return { revision: snapshot.revision, names, changed };
  }

  #put(entry: CacheEntry): MaybePromise<void> {
    const reading = entry.prepare();
    const put = (): MaybePromise<void> => (this.#take(entry) ? this.#serve(entry.name) : undefined);
    return reading === undefined ? put() : runSteps(reading, WORK).then(put);
  }

  /** False: something as new is known. */
  #take(entry: CacheEntry): boolean {
    if (!this.#know(entry)) return false;
    this.#settle(entry.object as CustomResourceDefinition);
    return true;
  }

  #settle(crd: CustomResourceDefinition): void {
    this.#groups.add(crd.spec.group);
    if (isEmptying(crd)) this.#cleanups.add(crd.metadata.name ?? '');
  }

  /** False: something as new is known. */
  #know(entry: CacheEntry): boolean {
    const before = this.#known.get(entry.name);
    if (before !== undefined && before.revision >= entry.revision) return false;
    const crd = entry.object as CustomResourceDefinition;
    this.#known.set(entry.name, { ...before, crd, revision: entry.revision });
    const { group } = crd.spec;
    const names = this.#namesIn.get(group);
    if (names === undefined) this.#namesIn.set(group, new Set([entry.name]));
    else names.add(entry.name);
    return true;
  }

  #delete(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    const { group } = known.crd.spec;
    const names = this.#namesIn.get(group);
    names?.delete(name);
    if (names?.size === 0) this.#namesIn.delete(group);
    known.served?.conversion?.end();
    this.#options.catalogue.removeCustom(name);
    this.#options.onRemoved?.({ group, resource: known.crd.spec.names.plural });
    if (known.storagePrefix !== undefined) this.#options.cache.unregister(known.storagePrefix);
    this.#groups.add(group);
  }

  /** The newest that is known of a definition. Never rejects. */
  #serve(name: string): MaybePromise<void> {
    const earlier = this.#preparing.get(name);
    if (earlier !== undefined) return earlier.then(() => this.#serve(name));
    const known = this.#known.get(name);
    if (known === undefined) return undefined;
    const failed = (error: unknown): void =>
      this.#options.logger.error({ err: error, name }, 'a custom resource cannot be served');
    try {
      const preparing = this.#prepare(name, known)?.catch(failed);
      if (preparing === undefined) return undefined;
      const done = preparing.finally(() => this.#preparing.delete(name));
      this.#preparing.set(name, done);
      return done;
    } catch (error) {
      return failed(error);
    }
  }

  /** Undefined: it is served already, or cannot be yet. */
  #prepare(name: string, known: Known): Promise<void> | undefined {
    const { crd } = known;
    if (!hasCondition(crd, 'Established') && !hasCondition(crd, 'NamesAccepted')) return undefined;
    const fingerprint = fingerprintOf(crd);
    const terminating = Boolean(crd.metadata.deletionTimestamp);
    const { served } = known;
    const show = (resource: CustomResource, conversion: Conversion | undefined): void => {
      // Unless it has changed or gone meanwhile.
      if (this.#known.get(name) !== known) return;
      if (served !== undefined && served.conversion !== conversion) served.conversion?.end();
      known.served = { fingerprint, terminating, resource, conversion };
      this.#options.catalogue.setCustom(name, resource);
    };
    if (served?.fingerprint === fingerprint) {
      if (served.terminating === terminating) return undefined;
      show(
        { ...served.resource, served: served.resource.served.map((one) => ({ ...one, terminating })) },
        served.conversion,
      );
      return undefined;
    }
    const conversion = isConvertedByWebhook(crd) ? this.#conversion(crd, (version) => kind.prune(version)) : undefined;
    const kind: CustomKind = customKind(crd, this.#objectMeta, conversion?.by);
    known.storagePrefix = kind.definition.storagePrefix;
    const prepared = this.#options.cache.prepare(known.storagePrefix, kind.decoder);
    if (prepared === undefined) show(this.#build(kind, terminating, conversion?.by), conversion);
    return prepared?.then(() => {
      if (this.#known.get(name) === known) show(this.#build(kind, terminating, conversion?.by), conversion);
    });
  }

  #conversion(crd: CustomResourceDefinition, pruner: (version: string) => Completion): Conversion {
    const ending = new AbortController();
    const webhook = new ConversionWebhook(conversionSettings(crd), this.#options.callConversion, ending.signal);
    const pruners = new Map<string, Completion>();
    const by = new WebhookConversion({
      webhook,
      memory: this.#conversionMemory,
      storageApiVersion: apiVersionOf(crd.spec.group, storageVersionOf(crd)),
      prune: (apiVersion) => {
        const { version } = parseApiVersion(apiVersion);
        const prune = pruners.get(version) ?? pruner(version);
        pruners.set(version, prune);
        return prune;
      },
    });
    return {
      by,
      end: () => {
        ending.abort();
        by.forget();
      },
    };
  }

  #build(
    { definition, versions, listKind, decoder }: CustomKind,
    terminating: boolean,
    conversion: WebhookConversion | undefined,
  ): CustomResource {
    const { createRegistry } = this.#options;
    // Where a webhook converts, each version has a registry that works in it.
    const registryOf = ({ group, version }: RequestedVersion): ResourceRegistry =>
      createRegistry(definition, decoder, conversion?.ofVersion(apiVersionOf(group, version)));
    const registry = registryOf(definition.storage);
    const served = versions.map((one): ServedResource => ({
      definition: one.definition,
      version: one.version,
      registry: conversion === undefined ? registry : registryOf(one.version),
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
    // There may be many groups, and all at once at the start.
    if (this.#settling.isOver) await this.#settling.next();
    const names = [...(this.#namesIn.get(group) ?? [])];
    const taken = () => takenNames(names.flatMap((name) => this.#known.get(name)?.crd ?? []));
    let current = taken();
    for (const name of names) {
      const crd = this.#known.get(name)?.crd;
      if (crd?.metadata.deletionTimestamp) continue;
      if (crd?.spec.preserveUnknownFields === true) await runSteps(prepareStructuralViolations(crd), WORK);
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
    // Without its registry there would seem to be nothing to delete.
    await this.#serve(name);
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
    const change = (current: KubeObject | undefined): KubeObject => {
      if (current === undefined) throw new Error(`${name} is gone`);
      return next(current as CustomResourceDefinition);
    };
    try {
      const { entry } = await this.#options.definitions.own.update(
        { namespace: '', name, change, strategy: {} },
        { signal: this.#stop.signal, dryRun: false },
      );
      const reading = entry.prepare();
      if (reading !== undefined) await runSteps(reading, WORK);
      if (!isGone(entry.object as CustomResourceDefinition)) await this.#put(entry);
    } catch (error) {
      if (!(error instanceof StatusError && error.status.reason === 'NotFound')) throw error;
    }
    return true;
  }

  #timestamp(): string {
    return formatTime(this.#options.now() / 1000);
  }
}

function conversionSettings({ spec: { conversion } }: CustomResourceDefinition): ConversionSettings {
  const { clientConfig, conversionReviewVersions } = conversion?.webhook ?? {};
  return { target: webhookTarget(clientConfig ?? {}), reviewVersions: conversionReviewVersions ?? [] };
}

/** A generation is one of the whole `spec`; who stores a definition without one has its text looked at. */
function fingerprintOf({ metadata: { uid = '', generation }, spec, status }: CustomResourceDefinition): string {
  const names = stringifyExact(status?.acceptedNames ?? null);
  if (generation !== undefined) return `${uid}/${generation}/${names}`;
  return createHash('sha1')
    .update(`${stringifyExact(spec)}/${names}`)
    .digest('base64');
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
