import { CATALOGUE } from '../api/kinds/catalogue';
import { service } from '../api/kinds/core/service';
import { withEventLifetime } from '../api/kinds/event-lifetime';
import type { FeatureGates } from '../api/kinds/feature-gates';
import { gatedKinds } from '../api/kinds/gated-kinds';
import { GROUPS } from '../api/kinds/groups';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import type { Schema } from '../api/schema/model';
import type { Logger } from '../observability/logger';
import type { ServiceAllocations } from '../registry/allocation/service-allocations';
import { ResourceRegistry } from '../registry/resource-registry';
import { storedDecoder } from '../registry/stored-decoder';
import { fieldOwnership, noFieldOwnership, type FieldOwnership } from '../resources/field-ownership';
import { ownResources, type OwnResources } from '../resources/own-resources';
import { RegistryReader } from '../resources/registry-reader';
import { feedResources, type ResourceFeed, type ResourceSink } from '../resources/resource-feed';
import { isServedByDefault, type IsServed } from '../resources/runtime-config';
import { ServedCatalogue } from '../resources/served-catalogue';
import type { RegistryCache, ResourceCache, ResourceDecoder } from '../storage/cache/cache';
import { CacheMetrics } from '../storage/cache/metrics';
import { startRegistryCache } from '../storage/cache/registry-cache';
import { instrumentStore } from '../storage/instrument-store';
import { StoreRequestMetrics } from '../storage/request-metrics';
import { StoredResources } from '../storage/stored-resources';
import type { Store } from '../storage/store';
import type { CloseStack } from './close-stack';
import type { Instruments } from './instruments';
import { createServiceAllocations, ServiceEffects, type ServiceRanges } from './service-ranges';

export interface StorageOptions {
  readonly store: Store;
  /** What all keys begin with: `/registry/`. */
  readonly keyRoot: string;
  readonly serviceRanges: ServiceRanges;
  /** Absent: everything but alpha versions. */
  readonly isServed?: IsServed;
  /** How long Events are kept; 0: for good. Absent: an hour. */
  readonly eventTtlMs?: number;
  readonly logger: Logger;
}

/** The registry in memory, and everything that reads and writes it without access control. */
export interface Storage {
  readonly store: Store;
  readonly requestMetrics: Pick<StoreRequestMetrics, 'forget'>;
  readonly keyRoot: string;
  readonly schema: Schema;
  readonly cache: RegistryCache;
  readonly catalogue: ServedCatalogue;
  readonly ownership: FieldOwnership;
  readonly reader: RegistryReader;
  /** What the server writes itself. */
  readonly own: OwnResources;
  readonly allocations: ServiceAllocations;
  /** The part of memory with what is stored under `pods`, `services/specs`. Throws for what no built-in kind stores. */
  readonly resourceCache: (storagePrefix: string) => ResourceCache;
  /** Keeps indexes up to date until it is closed. */
  readonly feed: (sinks: readonly ResourceSink[]) => ResourceFeed;
}

/** Loads the registry. */
export async function startStorage(
  options: StorageOptions,
  gates: FeatureGates,
  { registry }: Pick<Instruments, 'registry'>,
  parts: CloseStack,
): Promise<Storage> {
  const { keyRoot, logger, serviceRanges } = options;
  const schema = loadBuiltinSchema();
  const kinds = servedKinds(gates, options.eventTtlMs);
  const decoders = decodersOf(kinds, schema);
  const resources = storedResources(keyRoot, kinds);
  const requestMetrics = new StoreRequestMetrics(registry, resources.of);
  const store = instrumentStore(options.store, requestMetrics.record);
  const observer = new CacheMetrics({ registry, resourceOf: (prefix) => resources.under(prefix) });
  const cache = await startRegistryCache(store, { prefix: keyRoot, resources: decoders, observer, logger });
  observer.observe(cache);
  parts.add(() => cache.close());

  const decoderOf = (definition: KindDefinition): ResourceDecoder =>
    decoders.get(definition.storagePrefix) ?? storedDecoder(definition, schema);
  const allocations = createServiceAllocations({ store, keyRoot, schema, ranges: serviceRanges, logger });
  const serviceEffects = new ServiceEffects(allocations, () => catalogue.registryOf('', 'endpoints'), logger);
  const createRegistry = (definition: KindDefinition, group: string): ResourceRegistry =>
    new ResourceRegistry({
      definition,
      group,
      store,
      cache,
      ...decoding(decoderOf(definition)),
      keyRoot,
      ...(definition.storagePrefix === service.storagePrefix ? { sideEffects: serviceEffects } : {}),
    });
  const catalogue = new ServedCatalogue(kinds, GROUPS, schema, createRegistry, options.isServed ?? isServedByDefault);
  const resourceCache = (storagePrefix: string): ResourceCache => {
    const decoder = decoders.get(storagePrefix);
    if (decoder === undefined) throw new Error(`nothing is stored under ${storagePrefix}`);
    return cache.register(storagePrefix, decoder);
  };
  const ownership = gates.ServerSideApply ? fieldOwnership(catalogue, Date.now) : noFieldOwnership;
  return {
    store,
    requestMetrics,
    keyRoot,
    schema,
    cache,
    catalogue,
    ownership,
    reader: new RegistryReader(cache, store, keyRoot, resourceCache),
    own: ownResources(catalogue, ownership),
    allocations,
    resourceCache,
    feed: (sinks) => feedResources(sinks, resourceCache, keyRoot, logger),
  };
}

function storedResources(keyRoot: string, kinds: readonly KindDefinition[]): StoredResources {
  const stored = kinds.filter((definition) => definition.stored);
  return new StoredResources(
    keyRoot,
    stored.map(({ storagePrefix, storage, resource }) => ({ storagePrefix, group: storage.group, resource })),
  );
}

function servedKinds(gates: FeatureGates, eventTtlMs: number | undefined): readonly KindDefinition[] {
  const gated = gatedKinds(CATALOGUE, gates);
  return eventTtlMs === undefined ? gated : withEventLifetime(gated, eventTtlMs);
}

function decoding({ decode, completeFrom }: ResourceDecoder): Pick<ResourceDecoder, 'decode' | 'completeFrom'> {
  return completeFrom === undefined ? { decode } : { decode, completeFrom };
}

function decodersOf(kinds: readonly KindDefinition[], schema: Schema): ReadonlyMap<string, ResourceDecoder> {
  const stored = kinds.filter((definition) => definition.stored);
  return new Map(stored.map((definition) => [definition.storagePrefix, storedDecoder(definition, schema)]));
}
