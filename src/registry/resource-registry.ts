import { randomInt, randomUUID } from 'node:crypto';
import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import type { Work } from '../async/loop-work';
import { nameSuffix } from '../api/name-suffix';
import { apiVersionOf, type KubeObject } from '../api/object';
import type { KindDefinition, Strategy } from '../api/kinds/kind-definition';
import type { CacheEntry, RegistryCache, ResourceDecoder } from '../storage/cache/cache';
import type { Store } from '../storage/store';
import { createObject } from './create';
import { deleteObject } from './delete';
import { convertedWatch } from './converted-watch';
import { deleteEntries } from './delete-collection';
import type { EntryConversion } from './entry-conversion';
import { getEntry } from './get';
import { listEntries } from './list';
import type { Resource } from './resource';
import type { SideEffects } from './side-effects';
import { storageEncoder } from './stored-object';
import type {
  Caller,
  CreateHooks,
  DeleteHooks,
  DeleteOptions,
  DeleteResult,
  GetOptions,
  ListOptions,
  ListResult,
  OperationContext,
  Scope,
  UpdateHooks,
  WatchOptions,
  WriteResult,
} from './types';
import { updateObject } from './update';
import { watchEntries, type EntryWatch } from './watch';

export interface ResourceRegistryOptions {
  readonly definition: KindDefinition;
  /** The group under which it is served, for messages; absent: the one that it is stored in. */
  readonly group?: string;
  readonly store: Store;
  readonly cache: RegistryCache;
  /** From stored bytes to the storage version's object. */
  readonly decode: ResourceDecoder['decode'];
  readonly complete?: ResourceDecoder['complete'];
  readonly completeFrom?: ResourceDecoder['completeFrom'];
  /** What all keys of the cluster begin with (`--etcd-prefix`). */
  readonly keyRoot?: string;
  readonly sideEffects?: SideEffects;
  /** The registry works in another version than the stored one. */
  readonly conversion?: EntryConversion;
  readonly clock?: () => Date;
  readonly newUid?: () => string;
  readonly randomSuffix?: () => string;
}

/**
 * One resource's objects, in the storage version. Conversion, decoding, admission and field ownership are the caller's,
 * handed in as hooks. Every error that a client caused is a StatusError. Each verb has its file.
 */
export class ResourceRegistry {
  private readonly resource: Resource;

  constructor({
    definition,
    group = definition.storage.group,
    store,
    cache,
    decode,
    complete,
    completeFrom,
    keyRoot = '/registry/',
    sideEffects,
    conversion,
    clock = () => new Date(),
    newUid = randomUUID,
    randomSuffix = () => nameSuffix(randomInt),
  }: ResourceRegistryOptions) {
    const { kind, resource, storagePrefix, storage, errorGroup = storage.group } = definition;
    const apiVersion = apiVersionOf(storage.group, storage.version);
    this.resource = {
      definition,
      store,
      cache,
      cached: cache.register(storagePrefix, {
        decode,
        storedAs: { kind, apiVersion },
        ...(complete === undefined ? {} : { complete }),
        ...(completeFrom === undefined ? {} : { completeFrom }),
      }),
      keyPrefix: `${keyRoot}${storagePrefix}/`,
      groupResource: { group, resource },
      groupKind: { group: errorGroup, kind },
      toStored: storageEncoder(definition),
      ...(sideEffects === undefined ? {} : { sideEffects }),
      ...(conversion === undefined ? {} : { conversion }),
      clock,
      newUid,
      randomSuffix,
    };
  }

  get definition(): KindDefinition {
    return this.resource.definition;
  }

  /** Throws at once for a name that no object can have, and what memory does not have. */
  get(scope: Scope, name: string, options: GetOptions, caller: Caller): MaybePromise<CacheEntry> {
    const { conversion } = this.resource;
    const entry = getEntry(this.resource, scope, name, options, caller);
    return conversion === undefined ? entry : whenKnown(entry, (found) => readOne(conversion, found));
  }

  list(scope: Scope, options: ListOptions, caller: Caller): Promise<ListResult> {
    const { conversion } = this.resource;
    const result = listEntries(this.resource, scope, options, caller);
    return conversion === undefined ? result : readList(conversion, result);
  }

  /** Throws at once for options that are malformed; see {@link watchEntries}. */
  watch(scope: Scope, options: WatchOptions, signal: AbortSignal, work?: Work): EntryWatch {
    const { conversion } = this.resource;
    if (conversion === undefined) return watchEntries(this.resource, scope, options, signal, work);
    return convertedWatch(conversion, (ending) => watchEntries(this.resource, scope, options, ending, work), signal);
  }

  create(scope: Scope, object: KubeObject, hooks: CreateHooks, context: OperationContext): Promise<WriteResult> {
    return this.written(createObject(this.resource, scope, object, hooks, context));
  }

  /** Update, patch and apply. `strategy`: a subresource's; absent: the kind's own. */
  update(
    scope: Scope,
    name: string,
    hooks: UpdateHooks,
    context: OperationContext,
    strategy: Strategy = this.resource.definition.strategy,
  ): Promise<WriteResult> {
    return this.written(updateObject(this.resource, scope, name, hooks, context, strategy));
  }

  delete(
    scope: Scope,
    name: string,
    options: DeleteOptions,
    hooks: DeleteHooks,
    context: OperationContext,
  ): Promise<DeleteResult> {
    return this.written(deleteObject(this.resource, scope, name, options, hooks, context));
  }

  /** What a write has left, in the version of the registry. */
  private written<Result extends { readonly entry: CacheEntry }>(result: Promise<Result>): Promise<Result> {
    const { conversion } = this.resource;
    if (conversion === undefined) return result;
    return result.then(async (done) => ({ ...done, entry: await readOne(conversion, done.entry) }));
  }

  /** How many objects there are, of a namespace or of all. */
  count(namespace: string): number {
    const { cached, keyPrefix } = this.resource;
    return cached.snapshot().count(namespace === '' ? keyPrefix : `${keyPrefix}${namespace}/`);
  }

  /** About how many watches will be told of a write of the object. */
  watchers(namespace: string, name: string): number {
    const { cached, keyPrefix } = this.resource;
    return cached.watchers(namespace === '' ? `${keyPrefix}${name}` : `${keyPrefix}${namespace}/${name}`);
  }

  /** Deletes what the list options select, and answers that list. */
  deleteCollection(
    scope: Scope,
    list: ListOptions,
    options: DeleteOptions,
    hooks: DeleteHooks,
    context: OperationContext,
  ): Promise<ListResult> {
    const { conversion } = this.resource;
    const result = deleteEntries(this.resource, scope, list, options, hooks, context);
    return conversion === undefined ? result : readList(conversion, result);
  }
}

function readOne({ read }: EntryConversion, entry: CacheEntry): MaybePromise<CacheEntry> {
  return whenKnown(read([entry], 'asked'), ([found = entry]) => found);
}

async function readList({ read }: EntryConversion, listing: Promise<ListResult>): Promise<ListResult> {
  const result = await listing;
  return { ...result, entries: await read([...result.entries], 'trusted') };
}
