import { expired } from '../api/errors/status-error';
import type { MaybePromise } from '../api/maybe-promise';
import {
  SlowWatcherError,
  type CacheBatch,
  type CacheEntry,
  type CacheEvent,
  type ResourceSnapshot,
  type ResourceWatch,
} from '../storage/cache/cache';
import { CompactedError, type Revision } from '../storage/store';
import { startBookmarkClock } from './bookmark-clock';
import { awaitNewestSnapshot, snapshotNotOlderThan } from './freshness';
import { departed } from './local-entry';
import { keyOf, prefixOf, type Resource } from './resource';
import { parseResourceVersion } from './resource-version';
import type { Scope, WatchItem, WatchOptions } from './types';

/** Bounds what a new watch puts into one batch of its initial events. */
const INITIAL_BATCH = 500;

type Items = readonly WatchItem[];

/**
 * Takes what happens next. Where that has to wait until the client has read, it returns a promise, which never rejects;
 * nothing is sent before it has resolved.
 */
export type SendItems = (items: Items) => MaybePromise<void>;

/** To be run once. */
export interface EntryWatch {
  /** The reader is too slow: the watch will end when it can take more. */
  readonly isTooFarBehind: boolean;
  /**
   * Sends what happens, until the signal aborts or the reader has fallen too far behind. Rejects with 410 when history
   * does not reach back far enough, and with 504 when initial events of a version that does not come are asked for.
   */
  run(send: SendItems): Promise<void>;
}
type Wanted = ReturnType<typeof parseResourceVersion>;

/**
 * What happens in a scope, in batches. Begins with ADDED for what is there when the options ask for "some state" (spec,
 * "Resource version semantics", Watch) or for initial events; otherwise right after the given version. A reader whose
 * watch has ended resumes from the last version it saw.
 *
 * Throws 400 for a malformed version at once.
 */
export function watchEntries(resource: Resource, scope: Scope, options: WatchOptions, signal: AbortSignal): EntryWatch {
  const wanted = parseResourceVersion(options.resourceVersion);
  let events: ResourceWatch | undefined;
  const open = (after: Revision): ResourceWatch => (events = resource.cached.watch(after, signal));
  return {
    run: (send) => run(resource, watched(resource, scope, options), wanted, options, open, send, signal),
    get isTooFarBehind() {
      return events?.isTooFarBehind ?? false;
    },
  };
}

async function run(
  resource: Resource,
  watched: Watched,
  wanted: Wanted,
  options: WatchOptions,
  open: (after: Revision) => ResourceWatch,
  send: SendItems,
  signal: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  try {
    const after = await catchUp(resource, watched, wanted, options, send, signal);
    if (signal.aborted) return;
    const stream = new EventStream(open(after), after, send, signal);
    const bookmarks = options.allowWatchBookmarks && resource.definition.watchCache;
    const stop = bookmarks ? startBookmarkClock(startMs, options.timeoutMs, () => stream.sendBookmark()) : undefined;
    try {
      await stream.run(watched);
    } finally {
      stop?.();
    }
  } catch (error) {
    if (signal.aborted || error instanceof SlowWatcherError) return;
    if (error instanceof CompactedError) {
      throw expired(`too old resource version: ${options.resourceVersion ?? ''} (${error.compactRevision})`);
    }
    throw error;
  }
}

/** Sends the initial events, if any; returns the revision after which the stream begins. */
async function catchUp(
  resource: Resource,
  watched: Watched,
  wanted: Wanted,
  options: WatchOptions,
  send: SendItems,
  signal: AbortSignal,
): Promise<Revision> {
  const { sendInitialEvents, allowWatchBookmarks } = options;
  if (typeof wanted !== 'string' && sendInitialEvents !== true) return wanted;
  const snapshot = await initialState(resource, watched.prefix, wanted, options, signal);
  const { revision } = snapshot;
  if (sendInitialEvents !== false) {
    for (const items of initialEvents(snapshot, watched)) {
      await send(items);
      if (signal.aborted) return revision;
    }
  }
  if (sendInitialEvents === true && allowWatchBookmarks) {
    await send([{ type: 'BOOKMARK', revision, initialEventsEnd: true }]);
  }
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

/** The events of a watch and the bookmarks between them. */
class EventStream {
  /** What of the stream the client has not read yet, if it has to be waited for. */
  private unread: Promise<void> | undefined;

  constructor(
    private readonly events: ResourceWatch,
    /** The reader knows of everything up to here. */
    private told: Revision,
    private readonly send: SendItems,
    private readonly signal: AbortSignal,
  ) {}

  async run(watched: Watched): Promise<void> {
    for await (const batch of this.events) {
      const items = toItems(batch, watched);
      if (items.length === 0) continue;
      if (this.unread !== undefined) await this.unread;
      if (this.signal.aborted) return;
      this.told = batch.revision;
      this.give(items);
      if (this.unread !== undefined) await this.unread;
    }
  }

  /**
   * Only what the reader does not know yet: a bookmark says that nothing else happened up to there. False when the client
   * has to read first.
   */
  sendBookmark(): boolean {
    if (this.unread !== undefined) return false;
    const { progress } = this.events;
    if (this.signal.aborted || progress <= this.told) return true;
    this.told = progress;
    this.give([{ type: 'BOOKMARK', revision: progress, initialEventsEnd: false }]);
    return true;
  }

  private give(items: Items): void {
    this.unread = this.send(items)?.then(() => (this.unread = undefined));
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
