import { setTimeout as sleep } from 'node:timers/promises';
import { BackOff } from '../../async/back-off';
import type { Steps } from '../../async/steps';
import { inTurnsIfLong, Turn } from '../../async/turn';
import {
  CompactedError,
  type Revision,
  type Store,
  type StoredValue,
  type StoreEvent,
  type WatchBatch,
} from '../store';
import type { CacheEntry, RegistryCache, ResourceCache, ResourceDecoder } from './cache';
import { DEFAULTS, type RegistryCacheOptions } from './cache-options';
import { CachedResource, type ResourceSurroundings } from './cached-resource';
import { EntryFactory, ParsedObjects } from './entry';
import { EventHistory } from './event-history';
import { KeptHistory } from './kept-history';
import { loadPages } from './load-state';
import { OrderedTree } from './ordered-tree';
import { ProgressRequests } from './progress-requests';
import type { ResourceActivity } from './resource-activity';
import { ResourceRoutes } from './resource-routes';
import { RevisionWaiters } from './revision-waiters';
import { RevisionReadBatcher } from './revision-read-batcher';
import { UnreadableValues } from './unreadable-value';

/** How long a revision may be on its way when the store cannot say that it has sent everything. */
const UNREPORTED_WAIT_MS = 100;

const RETRIES = { first: 50, factor: 2, longest: 5_000 };

/**
 * Loads everything below `options.prefix` and follows it from then on. Resolves when loaded; keeps trying while the
 * store fails, until the signal aborts.
 */
export async function startRegistryCache(store: Store, options: RegistryCacheOptions): Promise<RegistryCache> {
  const cache = new WatchCache(store, options);
  for (const [storagePrefix, decoder] of options.resources ?? []) cache.register(storagePrefix, decoder);
  try {
    await cache.start(options.signal);
  } catch (error) {
    await cache.close();
    throw error;
  }
  return cache;
}

/** Of one resource, as it is read from the store. */
interface LoadedResource {
  readonly tree: OrderedTree<CacheEntry>;
  readonly unreadable: UnreadableValues;
}

const nothingLoaded = (): LoadedResource => ({ tree: OrderedTree.empty(), unreadable: new UnreadableValues() });

class WatchCache implements RegistryCache {
  private reached = 0 as Revision;
  /** Up to here the store is known to be ahead without events that memory will hear of; see {@link waitForEvents}. */
  private unreported = 0 as Revision;
  private readonly settings;
  private readonly routes: ResourceRoutes;
  private readonly history: EventHistory;
  private readonly parsed: ParsedObjects;
  private readonly waiters = new RevisionWaiters();
  private readonly newest: RevisionReadBatcher<Revision>;
  private readonly kept: KeptHistory;
  private readonly progress: ProgressRequests;
  private readonly around: ResourceSurroundings;
  private readonly closing = new AbortController();
  private readonly nowMs: () => number;
  /** Values of keys that belong to no registered resource. */
  private unclaimed = OrderedTree.empty<StoredValue>();
  /** What is being done for resources that were unregistered, by storage prefix. */
  private readonly released = new Map<string, Steps<void>>();
  /** Changes whenever a key may have got another owner. */
  private registrations = 0;
  /** Ends the current watch of the store, so that another one is opened. */
  private restartWatch: AbortController | undefined;
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: Store,
    private readonly options: RegistryCacheOptions,
  ) {
    this.settings = { ...DEFAULTS, ...options };
    const { historyMs, historyEvents, historyBytes, parsedObjects, parsedBytes, freezeObjects } = this.settings;
    this.routes = new ResourceRoutes(options.prefix);
    this.history = new EventHistory({ historyMs, events: historyEvents, bytes: historyBytes });
    this.parsed = new ParsedObjects({ objects: parsedObjects, jsonBytes: parsedBytes }, freezeObjects);
    this.nowMs = options.clock ?? (() => performance.now());
    this.newest = new RevisionReadBatcher(() => this.store.currentRevision(this.closing.signal));
    this.kept = new KeptHistory(store, options.prefix, this.nowMs);
    this.progress = new ProgressRequests(() => this.requestProgress());
    this.around = {
      store,
      history: this.history,
      limits: this.settings,
      reached: () => this.reached,
      needProgress: () => (this.store.reportsProgress ? this.progress.need() : () => undefined),
      nowMs: this.nowMs,
      reportUndecodable: (value, error) => this.reportUndecodable(value, error),
    };
  }

  get revision(): Revision {
    return this.reached;
  }

  *sizes(): Iterable<readonly [string, number]> {
    for (const { storagePrefix, size } of this.routes.all()) yield [storagePrefix, size];
  }

  *activities(): Iterable<readonly [string, ResourceActivity]> {
    for (const { storagePrefix, activity } of this.routes.all()) yield [storagePrefix, activity];
  }

  get historySize(): { readonly events: number; readonly bytes: number } {
    return this.history.size;
  }

  get parsedSize(): { readonly objects: number; readonly bytes: number } {
    return this.parsed.size;
  }

  async start(signal: AbortSignal | undefined): Promise<void> {
    const closing = this.closing.signal;
    const ended = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    await this.retrying('loading the registry failed', () => this.load(undefined, ended), ended);
    this.running = Promise.all([this.follow(), this.guard()]);
  }

  register(storagePrefix: string, decoder: ResourceDecoder): ResourceCache {
    const steps = this.registering(storagePrefix, decoder);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }

  prepare(storagePrefix: string, decoder: ResourceDecoder): Promise<void> | undefined {
    const steps = this.registering(storagePrefix, decoder);
    return inTurnsIfLong(() => steps.next().done === true, new Turn('registering a resource'));
  }

  private *registering(storagePrefix: string, decoder: ResourceDecoder): Steps<CachedResource> {
    const released = this.released.get(storagePrefix);
    if (released !== undefined) yield* released;
    const keyPrefix = this.routes.keyPrefixOf(storagePrefix);
    const factory = new EntryFactory(keyPrefix, decoder, this.parsed);
    const existing = this.routes.get(storagePrefix);
    if (existing === undefined) {
      const resource = new CachedResource(storagePrefix, keyPrefix, factory, this.around);
      this.routes.add(resource);
      this.registrations++;
      yield* this.claiming(resource);
      return resource;
    }
    if (isOtherStorage(existing.factory.decoder, decoder)) {
      yield* existing.redecoding(factory);
      this.registrations++;
    }
    return existing;
  }

  unregister(storagePrefix: string): void {
    const resource = this.registered(storagePrefix);
    if (resource === undefined) return;
    resource.close();
    this.options.observer?.forget?.(storagePrefix);
    const steps = this.releasing(resource);
    this.released.set(storagePrefix, steps);
    void inTurnsIfLong(() => steps.next().done === true, new Turn('unregistering a resource'));
  }

  private registered(storagePrefix: string): CachedResource | undefined {
    return this.released.has(storagePrefix) ? undefined : this.routes.get(storagePrefix);
  }

  currentRevision(signal?: AbortSignal): Promise<Revision> {
    return this.newest.get(signal);
  }

  async storeHas(revision: Revision, signal?: AbortSignal): Promise<boolean> {
    return revision >= this.reached || this.kept.has(revision, signal);
  }

  async waitFor(revision: Revision, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (revision <= this.reached) return true;
    const startedMs = this.nowMs();
    const isReached = await this.waitUntil(revision, timeoutMs, signal);
    this.options.observer?.waited?.(this.nowMs() - startedMs, isReached);
    return isReached;
  }

  private async waitUntil(revision: Revision, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.store.reportsProgress) return this.waitForEvents(revision, timeoutMs, signal);
    const enough = this.progress.need();
    try {
      return await this.waiters.wait(revision, timeoutMs, signal);
    } finally {
      enough();
    }
  }

  toEntry(storagePrefix: string, value: StoredValue): CacheEntry {
    const resource = this.registered(storagePrefix);
    if (resource === undefined) throw new Error(`no resource is registered for ${storagePrefix}`);
    return resource.entryOf(value);
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.waiters.close();
    for (const resource of this.routes.all()) resource.close();
    await this.running;
  }

  /**
   * Without progress reports, memory may never hear of a revision whose writes were not below the prefix. So once the
   * revision is known to exist and its events have had time to come, waiting longer is not worth it, and no other read has to
   * wait for the same revision.
   */
  private async waitForEvents(revision: Revision, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (revision <= this.unreported) return false;
    const patienceMs = Math.min(timeoutMs, UNREPORTED_WAIT_MS);
    if (await this.waiters.wait(revision, patienceMs, signal)) return true;
    if (patienceMs === timeoutMs) return false;
    const restMs = timeoutMs - patienceMs;
    const newest = await this.newestWithin(restMs, signal);
    if (revision <= this.reached) return true;
    if (newest !== undefined && newest >= revision) this.unreported = Math.max(revision, this.unreported) as Revision;
    return newest !== undefined && newest < revision && this.waiters.wait(revision, restMs, signal);
  }

  /** Undefined when the store does not answer in time. */
  private async newestWithin(timeoutMs: number, signal: AbortSignal | undefined): Promise<Revision | undefined> {
    const late = AbortSignal.timeout(timeoutMs);
    try {
      return await this.currentRevision(signal === undefined ? late : AbortSignal.any([signal, late]));
    } catch (error) {
      if (!late.aborted || signal?.aborted === true) throw error;
      return undefined;
    }
  }

  /** Loads the whole state anew and puts it in place; watches end with `gap`, since events between are not known. */
  private async load(gap: CompactedError | undefined, signal: AbortSignal): Promise<void> {
    const startedMs = this.nowMs();
    const { resources, unclaimed, revision, objects } = await this.read(signal);
    if (revision < this.reached) {
      throw new Error(`the store is at revision ${revision}, before ${this.reached}, which was served already`);
    }
    this.reached = revision;
    this.unclaimed = unclaimed;
    for (const resource of this.routes.all()) {
      const { tree, unreadable } = resources.get(resource) ?? nothingLoaded();
      resource.replace(tree, unreadable, revision, gap);
      resource.activity.initializations++;
    }
    this.waiters.advance(revision);
    const durationMs = this.nowMs() - startedMs;
    this.options.observer?.loaded?.(objects, durationMs);
    this.options.logger?.info({ objects, revision, durationMs: Math.round(durationMs) }, 'registry loaded');
  }

  private async read(signal: AbortSignal): Promise<{
    resources: Map<CachedResource, LoadedResource>;
    unclaimed: OrderedTree<StoredValue>;
    revision: Revision;
    objects: number;
  }> {
    const { registrations } = this;
    const resources = new Map<CachedResource, LoadedResource>();
    const unclaimed = OrderedTree.empty<StoredValue>();
    let revision = 0 as Revision;
    let objects = 0;
    const turn = new Turn('loading the registry');
    for await (const page of loadPages(this.store, this.options.prefix, this.settings.pageSize, signal)) {
      // Whose a key is has changed on the way: what was sorted so far may be wrong.
      if (registrations !== this.registrations) return this.read(signal);
      revision = page.revision;
      objects += page.items.length;
      turn.restart();
      for (const value of page.items) {
        if (turn.isOver) {
          await turn.next();
          if (registrations !== this.registrations) return this.read(signal);
        }
        const resource = this.routes.find(value.key);
        if (resource === undefined) unclaimed.set(value.key, copyOf(value));
        else this.loadInto(resources, resource, value);
      }
    }
    return { resources, unclaimed, revision, objects };
  }

  private loadInto(loaded: Map<CachedResource, LoadedResource>, resource: CachedResource, value: StoredValue): void {
    let target = loaded.get(resource);
    if (target === undefined) loaded.set(resource, (target = nothingLoaded()));
    try {
      target.tree.set(value.key, resource.entryOf(value));
    } catch (error) {
      target.unreadable.note(value);
      this.reportUndecodable(value, error);
    }
  }

  /** Keeps one watch of the store open, from the reached revision on, until the cache is closed. */
  private async follow(): Promise<void> {
    const { signal } = this.closing;
    const backOff = new BackOff(RETRIES);
    while (!signal.aborted) {
      try {
        const restart = new AbortController();
        this.restartWatch = restart;
        const ended = AbortSignal.any([signal, restart.signal]);
        const options = { needsPrevious: false };
        for await (const batch of this.store.watch(this.options.prefix, this.reached, ended, options)) {
          this.apply(batch);
          backOff.reset();
        }
        if (signal.aborted) return;
        this.options.logger?.warn({ revision: this.reached }, 'the watch of the store ended');
      } catch (error) {
        if (signal.aborted) return;
        this.options.logger?.warn({ err: error, revision: this.reached }, 'the watch of the store broke');
        if (error instanceof CompactedError) {
          await this.retrying('loading the registry anew failed', () => this.load(error, signal), signal).catch(
            () => undefined,
          );
        }
      }
      this.options.observer?.watchBroken?.();
      await pause(backOff.next(), signal);
    }
  }

  /** Opens another watch when the current one hangs: a frozen cache would otherwise look like a quiet cluster. */
  private async guard(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      await pause(this.settings.watchdogMs, signal, false);
      if (signal.aborted || !this.store.reportsProgress) continue;
      try {
        const newest = await this.currentRevision(signal);
        if (await this.waitFor(newest, this.settings.stalledMs, signal)) continue;
        this.options.logger?.warn({ revision: this.reached, newest }, 'the watch of the store hangs');
        this.restartWatch?.abort();
      } catch {
        // The store does not answer. Reads that ask it will hear; the watch is none the worse for it.
      }
    }
  }

  private apply(batch: WatchBatch): void {
    const touched: CachedResource[] = [];
    for (const event of batch.events) {
      // A watch that was opened anew may begin with what was applied already.
      if (event.revision <= this.reached) continue;
      const resource = this.routes.find(event.key);
      if (resource?.moving !== undefined) this.moveKey(resource, event.key);
      if (resource === undefined || resource.moving === 'out') this.keepUnclaimed(event);
      else if (resource.stage(event)) touched.push(resource);
    }
    if (batch.events.length === 0) this.options.observer?.progressReported?.();
    if (batch.revision <= this.reached) return;
    this.reached = batch.revision;
    for (const resource of touched) {
      const count = resource.publish(batch.revision);
      this.options.observer?.eventsReceived?.(resource.storagePrefix, count);
    }
    if (touched.length > 0) this.history.trim(this.nowMs());
    this.waiters.advance(batch.revision);
  }

  private keepUnclaimed(event: StoreEvent): void {
    if (event.type === 'put') this.unclaimed.set(event.key, copyOf(event));
    else this.unclaimed.delete(event.key);
  }

  /** Gives a new resource what was kept for it. */
  private *claiming(resource: CachedResource): Steps<void> {
    resource.moving = 'in';
    for (const { key } of this.unclaimed.clone().range(resource.keyPrefix)) {
      // It was unregistered meanwhile.
      if (resource.moving !== 'in') return;
      this.moveKey(resource, key);
      yield;
    }
    resource.moving = undefined;
  }

  /** Keeps what a resource leaves behind, which is on no route then. */
  private *releasing(resource: CachedResource): Steps<void> {
    resource.moving = 'out';
    // Once more when another state was loaded meanwhile.
    while (!resource.isEmpty) {
      for (const key of resource.keys()) {
        this.moveKey(resource, key);
        yield;
      }
    }
    this.routes.remove(resource);
    this.registrations++;
    this.released.delete(resource.storagePrefix);
  }

  private moveKey(resource: CachedResource, key: string): void {
    if (resource.moving === 'out') {
      const value = resource.giveBack(key);
      if (value !== undefined) this.unclaimed.set(key, value);
      return;
    }
    const value = this.unclaimed.get(key);
    if (value === undefined) return;
    this.unclaimed.delete(key);
    resource.takeIn(value);
  }

  private reportUndecodable(value: StoredValue, error: unknown): void {
    const resource = this.routes.find(value.key);
    this.options.logger?.warn(
      { key: value.key, revision: value.revision, err: error },
      'a stored value was not understood',
    );
    this.options.observer?.decodeFailed?.(resource?.storagePrefix ?? '');
  }

  private async requestProgress(): Promise<void> {
    try {
      await this.store.requestProgress();
    } catch (error) {
      this.options.logger?.warn({ err: error }, 'asking the store for progress failed');
    }
  }

  /** Repeats `action` until it succeeds; throws the signal's reason. */
  private async retrying(failure: string, action: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const backOff = new BackOff(RETRIES);
    for (;;) {
      signal.throwIfAborted();
      try {
        return await action();
      } catch (error) {
        signal.throwIfAborted();
        const retryMs = backOff.next();
        this.options.logger?.warn({ err: error, retryMs }, failure);
        await pause(retryMs, signal);
      }
    }
  }
}

function isOtherStorage(a: ResourceDecoder, b: ResourceDecoder): boolean {
  if (a.complete !== b.complete) return true;
  if (a.storedAs === undefined || b.storedAs === undefined) return false;
  return a.storedAs.kind !== b.storedAs.kind || a.storedAs.apiVersion !== b.storedAs.apiVersion;
}

/** A store's values may be slices of whole answers, which a few long-lived ones would keep in memory. */
function copyOf({ key, value, revision, problem }: StoredValue): StoredValue {
  return { key, value: Buffer.from(value), revision, ...(problem === undefined ? {} : { problem }) };
}

/** Ends early, without an error, when the signal aborts. */
async function pause(ms: number, signal: AbortSignal, ref = true): Promise<void> {
  await sleep(ms, undefined, { signal, ref }).catch(() => undefined);
}
