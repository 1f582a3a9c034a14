import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../api/object';
import { BackOff } from '../async/back-off';
import { runSteps } from '../async/steps';
import { Turn } from '../async/turn';
import type { Logger } from '../observability/logger';
import type { CacheEntry, ResourceCache } from '../storage/cache/cache';

/** An index that wants to know every object of a resource as it now stands. */
export interface ResourceSink {
  /** `pods`, `services/specs`. */
  readonly storagePrefix: string;
  readonly put: (object: KubeObject) => void;
  readonly delete: (object: KubeObject) => void;
}

const RETRIES = { first: 100, factor: 2, longest: 2_000 };

/** Brings the index to what the cache has now, then follows the changes until the watch ends. */
async function follow(
  resource: ResourceCache,
  sink: ResourceSink,
  known: Map<string, CacheEntry>,
  keyRoot: string,
  caughtUp: () => void,
  signal: AbortSignal,
): Promise<void> {
  const prefix = `${keyRoot}${resource.storagePrefix}/`;
  // What is indexed of it stays: to forget a webhook that cannot be decrypted would be to let everything pass.
  const problem = resource.problemIn(prefix);
  if (problem !== undefined) throw problem;
  const snapshot = resource.snapshot();
  const turn = new Turn('indexing what authorizers ask for');
  for (const [key, entry] of known) {
    if (turn.isOver) await turn.next();
    if (snapshot.get(key) !== undefined) continue;
    sink.delete(entry.object);
    known.delete(key);
  }
  for (const entry of snapshot.entries(prefix)) {
    if (turn.isOver) await turn.next();
    if (signal.aborted) return;
    // Too many, perhaps, for what is parsed of them to be kept.
    sink.put(entry.parse());
    known.set(entry.key, entry);
  }
  caughtUp();
  for await (const { events } of resource.watch(snapshot.revision, signal)) {
    for (const { type, entry } of events) {
      const parsing = entry.prepare();
      if (parsing !== undefined) await runSteps(parsing, 'indexing a large object');
      if (type === 'put') {
        sink.put(entry.object);
        known.set(entry.key, entry);
      } else {
        sink.delete(entry.object);
        known.delete(entry.key);
      }
    }
  }
}

/** Indexes that are kept up to date. */
export interface ResourceFeed {
  /** Every index has all that is in the cache, or is just being told of it. */
  isFollowing(): boolean;
  /** Resolves when they have for the first time. */
  readonly caughtUp: Promise<void>;
  close(): Promise<void>;
}

/** Keeps indexes as the cache has their resources. `close` waits for the last event. */
export function feedResources(
  sinks: readonly ResourceSink[],
  resourceCache: (storagePrefix: string) => ResourceCache,
  keyRoot: string,
  logger: Logger,
): ResourceFeed {
  const stop = new AbortController();
  const { signal } = stop;
  const following = new Set<ResourceSink>();
  let catchUp: () => void = () => undefined;
  const allCaughtUp = new Promise<void>((resolve) => (catchUp = resolve));
  const has = (sink: ResourceSink): void => {
    if (following.add(sink).size === sinks.length) catchUp();
  };
  if (sinks.length === 0) catchUp();
  const loops = sinks.map(async (sink) => {
    const known = new Map<string, CacheEntry>();
    const retries = new BackOff(RETRIES);
    const caughtUp = (): void => {
      retries.reset();
      has(sink);
    };
    while (!signal.aborted) {
      try {
        await follow(resourceCache(sink.storagePrefix), sink, known, keyRoot, caughtUp, signal);
      } catch (error) {
        following.delete(sink);
        logger.warn({ err: error, resource: sink.storagePrefix }, 'following a resource was interrupted');
        await delay(retries.next(), undefined, { signal }).catch(() => undefined);
      }
    }
  });
  return {
    caughtUp: allCaughtUp,
    isFollowing: () => following.size === sinks.length,
    close: async () => {
      stop.abort();
      await Promise.all(loops);
    },
  };
}
