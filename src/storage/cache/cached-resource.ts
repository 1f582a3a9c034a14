import type { KubeObject } from '../../api/object';
import type { CompactedError, Revision, Store, StoredValue, StoreEvent } from '../store';
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
import type { UnreadableValueError } from './unreadable-value';
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
  readonly catchingUp = new Set<WaitingReader>();
  private tree = OrderedTree.empty<CacheEntry>();
  /** A clone of the tree as it is now, if anybody has asked since the last change. */
  private view: OrderedTree<CacheEntry> | undefined;
  /** The revision of the last change, or of the load. */
  changed: Revision;
  /** Of keys under which something stands that cannot be opened, why. */
  private readonly unreadable = new Map<string, UnreadableValueError>();
  private staged: CacheEvent[] = [];
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
    return this.unreadable.get(key);
  }

  problemIn(prefix: string): Error | undefined {
    for (const [key, problem] of this.unreadable) if (key.startsWith(prefix)) return problem;
    return undefined;
  }

  noteUnreadable(key: string, problem: UnreadableValueError): void {
    this.unreadable.set(key, problem);
  }

  forgetUnreadable(): void {
    this.unreadable.clear();
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
        // Whoever wrote a value that cannot be decoded has heard of it when it was written.
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
    if (this.unreadable.size > 0) this.unreadable.delete(event.key);
    const entry = this.writtenHere(event);
    const seen: CacheEvent | undefined =
      entry === undefined
        ? toCacheEvent(this.entries, event, previous, this.around.reportUndecodable)
        : { type: 'put', revision: event.revision, entry, previous };
    if (seen === undefined) return false;
    if (seen.type === 'put') this.tree.set(event.key, seen.entry);
    else this.tree.delete(event.key);
    this.indexes.change(previous, seen.type === 'put' ? seen.entry : undefined);
    this.redecoded?.change(event.key, seen.type === 'put' ? seen.entry : undefined);
    this.view = undefined;
    this.changed = event.revision;
    return this.staged.push(seen) === 1;
  }

  /** Gives the staged events to watches, as one batch. Returns how many they are. */
  publish(revision: Revision): number {
    const logged = this.feed.publish({ events: this.staged, revision }, this.around.nowMs());
    this.around.history.add(this.feed.log, logged);
    this.staged = [];
    return logged.batch.events.length;
  }

  /**
   * Puts a loaded state in place of the current one. How it came about is not known, so watches end with `gap` and
   * events begin anew. Nobody else changes the tree.
   */
  replace(tree: OrderedTree<CacheEntry>, revision: Revision, gap: CompactedError | undefined): void {
    this.tree = tree;
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
        yield;
        if (this.moving === 'out') return;
        if (this.redecoded !== next) break;
      }
      // Another state was loaded meanwhile.
    } while (this.redecoded !== next);
    this.entries = factory;
    for (const reader of this.catchingUp) reader.finish(undefined);
    this.replace(next.tree, this.reached, undefined);
  }

  /** Takes in what was stored before the resource was known. */
  takeIn(value: StoredValue): void {
    const entry = decodedOrReported(this.entries, value, this.around.reportUndecodable);
    if (entry !== undefined) this.tree.set(entry.key, entry);
    this.view = undefined;
  }

  /** Gives back what is stored under the key; undefined: nothing. */
  giveBack(key: string): StoredValue | undefined {
    const entry = this.tree.get(key);
    if (entry === undefined) return undefined;
    this.tree.delete(key);
    this.view = undefined;
    return this.entries.toStored(entry);
  }

  /** Not disturbed by later changes. */
  keys(): Iterable<CacheEntry> {
    return this.newest().range(this.keyPrefix);
  }

  /** Ends all watches. */
  close(): void {
    this.indexes.close();
    for (const reader of this.catchingUp) reader.finish(undefined);
    this.feed.finish(undefined);
  }
}
