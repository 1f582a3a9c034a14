import { expired } from '../api/errors/status-error';
import {
  SlowWatcherError,
  type CacheBatch,
  type CacheEntry,
  type CacheEvent,
  type ResourceSnapshot,
  type ResourceWatch,
} from '../storage/cache/cache';
import { CompactedError, type Revision } from '../storage/store';
import { BookmarkClock } from './bookmark-clock';
import { awaitNewestSnapshot, snapshotNotOlderThan } from './freshness';
import { departed } from './local-entry';
import { keyOf, prefixOf, type Resource } from './resource';
import { parseResourceVersion } from './resource-version';
import type { Scope, WatchItem, WatchOptions } from './types';

/** Bounds what a new watch puts into one batch of its initial events. */
const INITIAL_BATCH = 500;

type Items = readonly WatchItem[];

/** To be consumed by one reader. */
export interface EntryWatch extends AsyncIterable<Items> {
  /** The reader is too slow: the watch will end when it asks for more. */
  readonly isTooFarBehind: boolean;
}
type Wanted = ReturnType<typeof parseResourceVersion>;

/**
 * What happens in a scope, in batches. Begins with ADDED for what is there when the options ask for "some state" (spec,
 * "Resource version semantics", Watch) or for initial events; otherwise right after the given version. Ends when the
 * signal aborts, or when the reader has fallen too far behind: it resumes from the last version it saw.
 *
 * Throws 400 for a malformed version at once; while iterating, 410 when history does not reach back far enough and 504
 * when initial events of a version that does not come are asked for.
 */
export function watchEntries(resource: Resource, scope: Scope, options: WatchOptions, signal: AbortSignal): EntryWatch {
  const wanted = parseResourceVersion(options.resourceVersion);
  let events: ResourceWatch | undefined;
  const open = (after: Revision): ResourceWatch => (events = resource.cached.watch(after, signal));
  const items = run(resource, watched(resource, scope, options), wanted, options, open, signal);
  return {
    [Symbol.asyncIterator]: () => items,
    get isTooFarBehind() {
      return events?.isTooFarBehind ?? false;
    },
  };
}

async function* run(
  resource: Resource,
  watched: Watched,
  wanted: Wanted,
  options: WatchOptions,
  open: (after: Revision) => ResourceWatch,
  signal: AbortSignal,
): AsyncGenerator<Items, void, undefined> {
  const clock = new BookmarkClock(performance.now(), options.timeoutMs);
  try {
    const after = yield* catchUp(resource, watched, wanted, options, signal);
    const events = open(after);
    const bookmarks = options.allowWatchBookmarks && resource.definition.watchCache;
    yield* bookmarks ? streamWithBookmarks(events, watched, after, clock) : stream(events, watched);
  } catch (error) {
    if (signal.aborted || error instanceof SlowWatcherError) return;
    if (error instanceof CompactedError) {
      throw expired(`too old resource version: ${options.resourceVersion ?? ''} (${error.compactRevision})`);
    }
    throw error;
  }
}

/** Gives the initial events, if any; returns the revision after which the stream begins. */
async function* catchUp(
  resource: Resource,
  watched: Watched,
  wanted: Wanted,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<Items, Revision, undefined> {
  const { sendInitialEvents, allowWatchBookmarks } = options;
  if (typeof wanted !== 'string' && sendInitialEvents !== true) return wanted;
  const snapshot = await initialState(resource, watched.prefix, wanted, options, signal);
  if (sendInitialEvents !== false) yield* initialEvents(snapshot, watched);
  const { revision } = snapshot;
  if (sendInitialEvents === true && allowWatchBookmarks) yield [{ type: 'BOOKMARK', revision, initialEventsEnd: true }];
  return revision;
}

async function initialState(
  resource: Resource,
  prefix: string,
  wanted: Wanted,
  { resourceVersion }: WatchOptions,
  signal: AbortSignal,
): Promise<ResourceSnapshot> {
  if (wanted === 'unset' || (wanted === 'any' && !resource.definition.watchCache)) {
    return awaitNewestSnapshot(resource, prefix, signal);
  }
  if (wanted === 'any') return resource.cached.snapshot();
  return snapshotNotOlderThan(resource, prefix, wanted, String(resourceVersion), signal);
}

/** Which entries a watch is about. */
interface Watched {
  readonly prefix: string;
  readonly onlyKey: string | undefined;
  readonly matches: ((entry: CacheEntry) => boolean) | undefined;
}

function watched(resource: Resource, scope: Scope, { selection }: WatchOptions): Watched {
  const named = selection?.name !== undefined && (scope.namespace !== '' || !resource.definition.namespaced);
  return {
    prefix: prefixOf(resource, scope),
    onlyKey: named ? keyOf(resource, scope, selection.name ?? '') : undefined,
    matches: selection?.matches,
  };
}

function* initialEvents(snapshot: ResourceSnapshot, { prefix, onlyKey, matches }: Watched): Generator<Items> {
  const only = onlyKey === undefined ? undefined : snapshot.get(onlyKey);
  const entries = onlyKey === undefined ? snapshot.entries(prefix) : only === undefined ? [] : [only];
  let batch: WatchItem[] = [];
  for (const entry of entries) {
    if (matches !== undefined && !matches(entry)) continue;
    batch.push({ type: 'ADDED', entry });
    if (batch.length < INITIAL_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function* stream(events: ResourceWatch, watched: Watched): AsyncGenerator<Items, void, undefined> {
  for await (const batch of events) {
    const items = toItems(batch, watched);
    if (items.length > 0) yield items;
  }
}

async function* streamWithBookmarks(
  events: ResourceWatch,
  watched: Watched,
  after: Revision,
  clock: BookmarkClock,
): AsyncGenerator<Items, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let told = after;
  try {
    for (let next = iterator.next(); ;) {
      const result = await clock.untilDue(next);
      if (result === 'due') {
        // Only what a reader does not know yet: a bookmark says that nothing else happened up to there.
        const { progress } = events;
        if (progress > told) yield [{ type: 'BOOKMARK', revision: progress, initialEventsEnd: false }];
        told = progress;
        continue;
      }
      if (result.done === true) return;
      const items = toItems(result.value, watched);
      if (items.length > 0) {
        told = result.value.revision;
        yield items;
      }
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

function toItems(batch: CacheBatch, watched: Watched): Items {
  const { prefix, onlyKey, matches } = watched;
  if (onlyKey === undefined && matches === undefined) return sharedItems.get(batch, prefix);
  return itemsOf(batch, watched);
}

function itemsOf({ events }: CacheBatch, watched: Watched): Items {
  const items: WatchItem[] = [];
  for (const event of events) {
    const { key } = event.entry;
    if (watched.onlyKey === undefined ? !key.startsWith(watched.prefix) : key !== watched.onlyKey) continue;
    const item = toItem(event, watched.matches);
    if (item !== undefined) items.push(item);
  }
  return items;
}

/** Batches whose items are remembered: watchers come for a batch one right after the other. */
const SHARED_BATCHES = 16;

/**
 * Watchers without selectors get the very same items, whose identity lets them share what is made of them. Batches are
 * told apart by identity, so that it does not matter whose they are.
 */
class SharedItems {
  private readonly recent: { readonly batch: CacheBatch; readonly prefix: string; readonly items: Items }[] = [];
  private oldest = 0;

  get(batch: CacheBatch, prefix: string): Items {
    for (const known of this.recent) if (known.batch === batch && known.prefix === prefix) return known.items;
    const items = itemsOf(batch, { prefix, onlyKey: undefined, matches: undefined });
    this.recent[this.oldest] = { batch, prefix, items };
    this.oldest = (this.oldest + 1) % SHARED_BATCHES;
    return items;
  }
}

const sharedItems = new SharedItems();

/** An object that begins to match is ADDED; one that ceases to, DELETED as it was before. */
function toItem(event: CacheEvent, matches: Watched['matches']): WatchItem | undefined {
  const { entry, previous } = event;
  if (event.type === 'delete') {
    return matches === undefined || matches(entry) ? { type: 'DELETED', entry } : undefined;
  }
  const matchedBefore = previous !== undefined && (matches === undefined || matches(previous));
  if (matches === undefined || matches(entry)) return { type: matchedBefore ? 'MODIFIED' : 'ADDED', entry };
  return matchedBefore ? { type: 'DELETED', entry: departed(event, previous) } : undefined;
}
