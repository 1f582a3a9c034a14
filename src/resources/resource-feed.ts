import type { KubeObject } from '../api/object';
import { runSteps } from '../async/steps';
import { Turn } from '../async/turn';
import type { Logger } from '../observability/logger';
import type { CacheEntry, CacheEvent, ResourceCache } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import { followResource } from './follow-resource';

/** An index that wants to know every object of a resource as it now stands. */
export interface ResourceSink {
  /** `pods`, `services/specs`. */
  readonly storagePrefix: string;
  readonly put: (object: KubeObject) => void;
  readonly delete: (object: KubeObject) => void;
}

/** Brings an index to what the cache has now. */
async function list(
  resource: ResourceCache,
  sink: ResourceSink,
  known: Map<string, CacheEntry>,
  prefix: string,
  signal: AbortSignal,
): Promise<Revision> {
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
    if (signal.aborted) break;
    // Too many, perhaps, for what is parsed of them to be kept.
    sink.put(entry.parse());
    known.set(entry.key, entry);
  }
  return snapshot.revision;
}

async function apply({ type, entry }: CacheEvent, sink: ResourceSink, known: Map<string, CacheEntry>): Promise<void> {
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
  if (sinks.length === 0) catchUp();
  const loops = sinks.map((sink) => {
    const known = new Map<string, CacheEntry>();
    const resource = resourceCache(sink.storagePrefix);
    return followResource(
      {
        resource,
        list: () => list(resource, sink, known, `${keyRoot}${resource.storagePrefix}/`, signal),
        apply: (event) => apply(event, sink, known),
        following: (isFollowing) => {
          if (!isFollowing) following.delete(sink);
          else if (following.add(sink).size === sinks.length) catchUp();
        },
        interrupted: (error) =>
          logger.warn({ err: error, resource: sink.storagePrefix }, 'following a resource was interrupted'),
      },
      signal,
    );
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
