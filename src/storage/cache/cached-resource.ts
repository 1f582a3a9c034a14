import type { KubeObject } from '../../api/object';
import { CompactedError, type Revision, type Store, type StoredValue, type StoreEvent } from '../store';
import type {
  CacheBatch,
  CacheEntry,
  CacheEvent,
  ResourceCache,
  ResourceSnapshot,
  ResourceWatch,
  WatchInterest,
} from './cache';
import { decodedOrReported, toCacheEvent, type ReportUndecodable } from './cache-events';
import type { EntryFactory } from './entry';
import { EventFeed } from './event-feed';
import type { Steps } from '../../async/steps';
import { FieldIndexes } from './field-index';
import type { EventHistory } from './event-history';
import { LogWatch, type WatchedResource } from './log-watch';
import { OrderedTree } from './ordered-tree';
import { PastStates, TreeSnapshot } from './snapshots';
import { ResourceActivity } from './resource-activity';
import { UnreadableValues, isUnreadable } from './unreadable-value';
import type { WaitingReader } from './waiting-readers';

/** More writes of one replica are hardly ever under way at once. */
const MAX_AWAITED = 64;

/** What a resource shares with the others. */
export interface ResourceSurroundings {
  readonly store: Store;
  readonly history: EventHistory;
  readonly limits: {
    readonly maxEventsBehind: number;
    /** Past states that are kept. */
    readonly pastStates: number;
  };
  readonly reached: () => Revision;
  readonly needProgress: () => () => void;
  readonly nowMs: () => number;
  readonly reportUndecodable: ReportUndecodable;
}

/** A resource's state on its way into another form. */
class Redecoded {
  readonly tree = OrderedTree.empty<CacheEntry>();

  constructor(private readonly decode: (before: CacheEntry) => CacheEntry | undefined) {}

  /** `before`: what stands there now, in the former form. */
  change(key: string, before: CacheEntry | undefined): void {
    const entry = before && this.decode(before);
    if (entry === undefined) this.tree.delete(key);
    else this.tree.set(key, entry);
  }
}

/** One resource's current state, recent events and watches. */
export class CachedResource implements ResourceCache, WatchedResource {
  readonly activity = new ResourceActivity();
  readonly catchingUp = new Set<WaitingReader>();
  private tree = OrderedTree.empty<CacheEntry>();
  /** A clone of the tree as it is now, if one was asked for since the last change. */
  private view: OrderedTree<CacheEntry> | undefined;
  /** The revision of the last change, or of the load. */
  changed: Revision;
  private unreadable = new UnreadableValues();
  private staged: CacheEvent[] = [];
  /** Something happened since the last {@link publish} that cannot be told as events. */
  private hasGap = false;
  /** Entries of writes whose events have not come yet, by the rest of their revision. */
  private awaited: (CacheEntry | undefined)[] = [];
  private past: PastStates;
  private readonly indexes = new FieldIndexes(
    () => this.newest().range(this.keyPrefix),
    (entry) => this.tree.get(entry.key) === entry,
  );
  /** What is on its way into another storage version or schema, while {@link redecoding} is under way. */
  private redecoded: Redecoded | undefined;
  /** Its stored values are being taken in, or given back: who has an event of a key first does so with what stood there. */
  moving: 'in' | 'out' | undefined;
  private currentFeed: EventFeed;

  constructor(
    readonly storagePrefix: string,
    /** With the root: `/registry/pods/`. */
    readonly keyPrefix: string,
    private entries: EntryFactory,
    private readonly around: ResourceSurroundings,
  ) {
    this.changed = around.reached();
    this.currentFeed = new EventFeed(this.changed);
    this.past = this.pastOf(this.currentFeed);
  }

  get factory(): EntryFactory {
    return this.entries;
  }

  get feed(): EventFeed {
    return this.currentFeed;
  }

  get reached(): Revision {
    return this.around.reached();
  }

  get size(): number {
    return this.tree.size;
  }

  get(key: string): CacheEntry | undefined {
    return this.tree.get(key);
  }

  problemOf(key: string): Error | undefined {
    return this.unreadable.problemOf(key);
  }

  problemIn(prefix: string): Error | undefined {
    return this.unreadable.problemIn(prefix);
  }

  get isEmpty(): boolean {
    return this.tree.size === 0 && this.unreadable.size === 0;
  }

  snapshot(): ResourceSnapshot {
    return this.newestSnapshot(this.reached);
  }

  snapshotAt(revision: Revision): ResourceSnapshot | undefined {
    if (revision > this.reached) return undefined;
    if (revision >= this.changed) return this.newestSnapshot(revision);
    // Where nothing is written, nothing but a reader finds out that events are too old.
    this.around.history.trim(this.around.nowMs());
    const tree = this.past.at(revision, this.tree);
    return tree === undefined ? undefined : new TreeSnapshot(revision, tree);
  }

  private newestSnapshot(revision: Revision): ResourceSnapshot {
    const tree = this.newest();
    return new TreeSnapshot(revision, tree, (field) => (this.view === tree ? this.indexes.find(field) : undefined));
  }

  private newest(): OrderedTree<CacheEntry> {
    return (this.view ??= this.tree.clone());
  }

  watch(after: Revision, signal: AbortSignal, interest?: WatchInterest): ResourceWatch {
    return new LogWatch(this, after, signal, this.around.limits.maxEventsBehind, interest);
  }

  watchers(key: string): number {
    return this.currentFeed.readers.countOf(key);
  }

  async *storeEvents(after: Revision, signal: AbortSignal): AsyncGenerator<CacheBatch> {
    const { store, reportUndecodable } = this.around;
    for await (const batch of store.watch(this.keyPrefix, after, signal)) {
      const events: CacheEvent[] = [];
      for (const event of batch.events) {
        const before = event.previous;
        // What would be told without it is that something vanished, or never was.
        if (isUnreadable(before) || (event.type === 'put' && isUnreadable(event))) {
          throw new CompactedError(event.revision);
        }
        // That a value cannot be decoded was logged when it was written.
        const previous = before && decodedOrReported(this.entries, before, () => undefined);
        const seen = toCacheEvent(this.entries, event, previous, reportUndecodable);
        if (seen !== undefined) events.push(seen);
      }
      yield { events, revision: batch.revision };
    }
  }

  needProgress(): () => void {
    return this.around.needProgress();
  }

  entryOf(value: StoredValue): CacheEntry {
    const known = this.tree.get(value.key);
    return known?.revision === value.revision ? known : this.entries.fromStored(value);
  }

  written(value: StoredValue, object: KubeObject | undefined): CacheEntry {
    const isAhead = value.revision > this.reached;
    const entry = isAhead ? this.entries.fromStored(value) : this.entryOf(value);
    if (object !== undefined) this.entries.learn(entry, object);
    if (isAhead) this.awaited[value.revision % MAX_AWAITED] = entry;
    return entry;
  }

  /** The entry that was made when this replica wrote what the event tells of. */
  private writtenHere({ type, key, revision }: StoreEvent): CacheEntry | undefined {
    const slot = revision % MAX_AWAITED;
    const entry = this.awaited[slot];
    if (type !== 'put' || entry?.revision !== revision || entry.key !== key) return undefined;
    this.awaited[slot] = undefined;
    return entry;
  }

  /** Takes an event into the state. Readers hear of it with {@link publish}. True when it is the first since then. */
  stage(event: StoreEvent): boolean {
    const previous = this.tree.get(event.key);
    const wasUnreadable = this.unreadable.size > 0 && this.unreadable.take(event.key) !== undefined;
    if (wasUnreadable || (event.type === 'put' && this.unreadable.note(event))) {
      return this.stageUnreadable(event, previous);
    }
    const entry = this.writtenHere(event);
    const seen: CacheEvent | undefined =
      entry === undefined
        ? toCacheEvent(this.entries, event, previous, this.around.reportUndecodable)
        : { type: 'put', revision: event.revision, entry, previous };
    if (seen === undefined) return false;
    this.change(event, previous, seen.type === 'put' ? seen.entry : undefined);
    return this.staged.push(seen) === 1 && !this.hasGap;
  }

  /** `entry`: what stands under the key now. */
  private change({ key, revision }: StoreEvent, previous: CacheEntry | undefined, entry: CacheEntry | undefined): void {
    if (entry === undefined) this.tree.delete(key);
    else this.tree.set(key, entry);
    this.indexes.change(previous, entry);
    this.redecoded?.change(key, entry);
    this.view = undefined;
    this.changed = revision;
  }

  /**
   * A write of what cannot be opened is no deletion, and a write over it or its deletion is not the first that a watcher may
   * have heard of it. So watches end, and a new list is told what is the matter.
   */
  private stageUnreadable(event: StoreEvent, previous: CacheEntry | undefined): boolean {
    const isFirst = this.staged.length === 0 && !this.hasGap;
    this.hasGap = true;
    const { entries, around } = this;
    const entry = event.type === 'put' ? decodedOrReported(entries, event, around.reportUndecodable) : undefined;
    if (event.type === 'put') this.unreadable.note(event);
    this.change(event, previous, entry);
    return isFirst;
  }

  /** Gives the staged events to watches, as one batch. Returns how many they are. */
  publish(revision: Revision): number {
    if (this.hasGap) {
      const lost = this.staged.length;
      this.replace(this.tree, this.unreadable, revision, new CompactedError(revision));
      return lost;
    }
    const logged = this.feed.publish({ events: this.staged, revision }, this.around.nowMs());
    this.around.history.add(this.feed.log, logged);
    this.staged = [];
    return logged.batch.events.length;
  }

  /**
   * Puts a loaded state in place of the current one. How it came about is not known, so watches end with `gap` and
   * events begin anew. Only this changes the tree.
   */
  replace(
    tree: OrderedTree<CacheEntry>,
    unreadable: UnreadableValues,
    revision: Revision,
    gap: CompactedError | undefined,
  ): void {
    this.tree = tree;
    this.unreadable = unreadable;
    this.staged = [];
    this.hasGap = false;
    this.redecoded = undefined;
    this.view = undefined;
    this.indexes.clear();
    this.changed = revision;
    this.awaited = [];
    const ended = this.currentFeed;
    this.currentFeed = new EventFeed(revision);
    this.past = this.pastOf(this.currentFeed);
    ended.finish(gap);
  }

  private pastOf({ log }: EventFeed): PastStates {
    return new PastStates(log, this.around.limits.pastStates);
  }

  /**
   * Brings everything into another storage version or schema; watches end. Until the last step readers see everything as it
   * was before.
   */
  *redecoding(factory: EntryFactory): Steps<void> {
    const adopt = factory.adopterOf(this.entries);
    const decode = (before: CacheEntry): CacheEntry | undefined =>
      adopt?.(before) ?? decodedOrReported(factory, this.entries.toStored(before), this.around.reportUndecodable);
    let next: Redecoded;
    do {
      next = this.redecoded = new Redecoded(decode);
      for (const before of this.newest().range(this.keyPrefix)) {
        // What was written meanwhile is known already.
        if (this.tree.get(before.key) === before) next.change(before.key, before);
        before.forget();
        yield;
        if (this.moving === 'out') return;
        if (this.redecoded !== next) break;
      }
      // Another state was loaded meanwhile.
    } while (this.redecoded !== next);
    this.entries = factory;
    for (const reader of this.catchingUp) reader.finish(undefined);
    this.replace(next.tree, this.unreadable, this.reached, undefined);
  }

  /** Takes in what was stored before the resource was known. */
  takeIn(value: StoredValue): void {
    const entry = decodedOrReported(this.entries, value, this.around.reportUndecodable);
    if (entry !== undefined) this.tree.set(entry.key, entry);
    else this.unreadable.note(value);
    this.view = undefined;
  }

  /** Gives back what is stored under the key; undefined: nothing. */
  giveBack(key: string): StoredValue | undefined {
    const entry = this.tree.get(key);
    if (entry === undefined) return this.unreadable.take(key);
    this.tree.delete(key);
    this.view = undefined;
    entry.forget();
    return this.entries.toStored(entry);
  }

  /** Not disturbed by later changes. */
  *keys(): Iterable<string> {
    yield* this.unreadable.keys();
    for (const { key } of this.newest().range(this.keyPrefix)) yield key;
  }

  /** Ends all watches. */
  close(): void {
    this.indexes.close();
    for (const reader of this.catchingUp) reader.finish(undefined);
    this.feed.finish(undefined);
    this.around.history.release(this.feed.log);
  }
}
