import { expired } from '../api/errors/status-error';
import type { MaybePromise } from '../api/maybe-promise';
import type { Work } from '../async/loop-work';
import { Turn, turnToBegin } from '../async/turn';
import {
  SlowWatcherError,
  type CacheBatch,
  type CacheEntry,
  type CacheEvent,
  type ResourceSnapshot,
  type ResourceWatch,
  type WatchInterest,
} from '../storage/cache/cache';
import { CompactedError, type Revision } from '../storage/store';
import { startBookmarkClock } from './bookmark-clock';
import { awaitNewestSnapshot, snapshotNotOlderThan, throwIfUnreadable } from './freshness';
import { departed } from './local-entry';
import { keyOf, prefixOf, type Resource } from './resource';
import { parseResourceVersion } from './resource-version';
import { selectNext, type Matches, type SelectLimits } from './select';
import type { Scope, Selection, WatchItem, WatchOptions } from './types';

/** Of its initial events a watch makes so much at a time, so that what a client has not taken is bounded. */
const INITIAL_BATCH: SelectLimits = { entries: 500, bytes: 64 * 1024 };

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
  /** Its reader is not waited for any more: counts it among the watches that were ended for that. */
  gaveUp(): void;
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
export function watchEntries(
  resource: Resource,
  scope: Scope,
  options: WatchOptions,
  signal: AbortSignal,
  work: Work | string = 'watching objects',
): EntryWatch {
  return new EntryStream(resource, watched(resource, scope, options), options, signal, work);
}

/** One object and one suspended function for each watch, of which there are thousands. */
class EntryStream implements EntryWatch {
  private readonly wanted: Wanted;
  private events: ResourceWatch | undefined;
  /** The reader knows of everything up to here. */
  private told = 0 as Revision;
  /** What of the stream the client has not read yet, if it has to be waited for. */
  private unread: Promise<void> | undefined;

  constructor(
    private readonly resource: Resource,
    private readonly watched: Watched,
    private readonly options: WatchOptions,
    private readonly signal: AbortSignal,
    private readonly work: Work | string,
  ) {
    this.wanted = parseResourceVersion(options.resourceVersion);
  }

  get isTooFarBehind(): boolean {
    return this.events?.isTooFarBehind ?? false;
  }

  gaveUp(): void {
    this.resource.cached.activity.terminatedWatches++;
  }

  async run(send: SendItems): Promise<void> {
    const { resource, watched, options, signal } = this;
    const startMs = performance.now();
    let stopBookmarks: (() => void) | undefined;
    try {
      this.told = await this.catchUp(send);
      if (signal.aborted) return;
      const events = (this.events = resource.cached.watch(this.told, signal, watched.interest));
      if (options.allowWatchBookmarks && resource.definition.watchCache) {
        stopBookmarks = startBookmarkClock(startMs, options.timeoutMs, () => this.sendBookmark(events, send));
      }
      for await (const batch of events) {
        const items = watched.isLong ? await this.selectInTurns(batch) : toItems(batch, watched);
        if (items.length === 0) continue;
        if (this.unread !== undefined) await this.unread;
        if (signal.aborted) return;
        this.told = batch.revision;
        this.give(items, send);
        if (this.unread !== undefined) await this.unread;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof SlowWatcherError) return this.gaveUp();
      if (error instanceof CompactedError) {
        throw expired(`too old resource version: ${options.resourceVersion ?? ''} (${error.compactRevision})`);
      }
      throw error;
    } finally {
      stopBookmarks?.();
    }
  }

  /** Sends the initial events, if any; returns the revision after which the stream begins. */
  private async catchUp(send: SendItems): Promise<Revision> {
    const { wanted, watched, signal } = this;
    const { sendInitialEvents, allowWatchBookmarks } = this.options;
    if (typeof wanted !== 'string' && sendInitialEvents !== true) return wanted;
    const snapshot = await this.initialState();
    const { revision } = snapshot;
    if (sendInitialEvents !== false) {
      throwIfUnreadable(this.resource, watched);
      // Of many watches that begin at once each has its first batch, which a turn of its own would not hold back.
      await turnToBegin(this.work);
      if (signal.aborted) return revision;
      const entries = watchedEntries(snapshot, watched);
      const turn = new Turn(this.work);
      for (;;) {
        const selected = await selectNext(entries, watched.matches, INITIAL_BATCH, signal, turn);
        if (selected.length === 0) break;
        this.resource.cached.activity.initialEvents += selected.length;
        const unread = send(selected.map((entry) => ({ type: 'ADDED', entry })));
        if (unread !== undefined) {
          await unread;
          turn.restart();
        }
        // Those that nobody waits for any more do not wait for their turns.
        if (turn.isOver && !signal.aborted) await turn.next();
        if (signal.aborted) return revision;
      }
    }
    if (sendInitialEvents === true && allowWatchBookmarks) {
      await send([{ type: 'BOOKMARK', revision, initialEventsEnd: true }]);
    }
    return revision;
  }

  private async initialState(): Promise<ResourceSnapshot> {
    const { resource, wanted, signal } = this;
    const { prefix } = this.watched;
    if (wanted === 'unset' || (wanted === 'any' && !resource.definition.watchCache)) {
      return awaitNewestSnapshot(resource, prefix, signal);
    }
    if (wanted === 'any') return resource.cached.snapshot();
    return snapshotNotOlderThan(resource, prefix, wanted, String(this.options.resourceVersion), signal);
  }

  /**
   * Only what the reader does not know yet: a bookmark says that nothing else happened up to there. False when the client
   * has to read first.
   */
  private sendBookmark(events: ResourceWatch, send: SendItems): boolean {
    if (this.unread !== undefined) return false;
    const { progress } = events;
    if (this.signal.aborted || progress <= this.told) return true;
    this.told = progress;
    this.give([{ type: 'BOOKMARK', revision: progress, initialEventsEnd: false }], send);
    return true;
  }

  /** Many watches may come for a batch at once: each looks through it in a turn of its own. No bookmark goes before its events. */
  private async selectInTurns(batch: CacheBatch): Promise<Items> {
    if (this.unread !== undefined) await this.unread;
    const selecting = itemsInTurns(batch, this.watched, new Turn(this.work));
    const selected = (): void => (this.unread = undefined);
    this.unread = selecting.then(selected, selected);
    return selecting;
  }

  private give(items: Items, send: SendItems): void {
    this.unread = send(items)?.then(() => (this.unread = undefined));
  }
}

/** Which entries a watch is about. */
interface Watched {
  readonly prefix: string;
  readonly onlyKey: string | undefined;
  readonly matches: Matches | undefined;
  /** As of its selection. */
  readonly isLong: boolean;
  readonly interest: WatchInterest | undefined;
}

function watched(resource: Resource, scope: Scope, { selection }: WatchOptions): Watched {
  const named = selection?.name !== undefined && (scope.namespace !== '' || !resource.definition.namespaced);
  const prefix = prefixOf(resource, scope);
  const onlyKey = named ? keyOf(resource, scope, selection.name ?? '') : undefined;
  const interest = interestOf(onlyKey, selection, scope.namespace === '' ? undefined : prefix);
  return { prefix, onlyKey, matches: selection?.matches, isLong: selection?.isLong === true, interest };
}

/** The rarest: one key before one value of a field, and that before a namespace. */
function interestOf(
  onlyKey: string | undefined,
  selection: Selection | undefined,
  namespacePrefix: string | undefined,
): WatchInterest | undefined {
  if (onlyKey !== undefined) return { by: 'key', key: onlyKey };
  return selection?.field ?? (namespacePrefix === undefined ? undefined : { by: 'key', key: namespacePrefix });
}

function watchedEntries(snapshot: ResourceSnapshot, { prefix, onlyKey, interest }: Watched): Iterator<CacheEntry> {
  if (onlyKey === undefined) {
    const indexed = interest?.by === 'field' ? snapshot.withField(interest, prefix) : undefined;
    return (indexed ?? snapshot.entries(prefix))[Symbol.iterator]();
  }
  const only = snapshot.get(onlyKey);
  return (only === undefined ? [] : [only])[Symbol.iterator]();
}

function toItems(batch: CacheBatch, watched: Watched): Items {
  const { prefix, onlyKey, matches } = watched;
  if (onlyKey === undefined && matches === undefined) return sharedItems.get(batch, prefix);
  return itemsOf(batch, watched);
}

type Wished = Pick<Watched, 'prefix' | 'onlyKey' | 'matches'>;

function itemsOf({ events }: CacheBatch, watched: Wished): Items {
  const items: WatchItem[] = [];
  for (const event of events) {
    const item = itemFor(event, watched);
    if (item !== undefined) items.push(item);
  }
  return items;
}

async function itemsInTurns({ events }: CacheBatch, watched: Wished, turn: Turn): Promise<Items> {
  const items: WatchItem[] = [];
  await turn.next();
  for (const event of events) {
    const item = itemFor(event, watched);
    if (item !== undefined) items.push(item);
    if (turn.isOver) await turn.next();
  }
  return items;
}

function itemFor(event: CacheEvent, { prefix, onlyKey, matches }: Wished): WatchItem | undefined {
  const { key } = event.entry;
  const isConcerned = onlyKey === undefined ? key.startsWith(prefix) : key === onlyKey;
  return isConcerned ? toItem(event, matches) : undefined;
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
