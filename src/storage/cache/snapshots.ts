import type { Revision } from '../store';
import type { CacheEntry, CacheEvent, FieldInterest, ResourceSnapshot } from './cache';
import type { EventLog } from './event-log';
import type { OrderedTree } from './ordered-tree';

export class TreeSnapshot implements ResourceSnapshot {
  constructor(
    readonly revision: Revision,
    private readonly tree: OrderedTree<CacheEntry>,
    /** What the indexes say, as long as this is the newest state; undefined from then on. */
    private readonly indexed: (field: FieldInterest) => readonly CacheEntry[] | undefined = () => undefined,
  ) {}

  get(key: string): CacheEntry | undefined {
    return this.tree.get(key);
  }

  entries(prefix: string, start?: string): Iterable<CacheEntry> {
    return this.tree.range(prefix, start);
  }

  withField(field: FieldInterest, prefix: string, start = prefix): readonly CacheEntry[] | undefined {
    if (!field.isIndexed) return undefined;
    return this.indexed(field)?.filter(({ key }) => key.startsWith(prefix) && key >= start);
  }

  count(prefix: string, start?: string): number {
    return this.tree.count(prefix, start);
  }
}

/** A state that was asked for, true from revision `from` until before `until`. */
interface PinnedState {
  readonly from: Revision;
  readonly until: Revision;
  readonly tree: OrderedTree<CacheEntry>;
}

/**
 * One resource's past states. None is kept in advance: the log's events carry what stood there before, so a state is
 * made by taking back the events after it from a newer one, at about a microsecond each, and costs nothing until it is
 * asked for. Those that were asked for last (pages of lists) are kept for as long as the log reaches back to them: however
 * often they are asked for, they hold nothing that the log does not hold.
 */
export class PastStates {
  /** The one that was used last is the last. */
  private pinned: PinnedState[] = [];

  constructor(
    private readonly log: EventLog,
    /** How many are kept. */
    private readonly limit: number,
  ) {
    log.onDropped = () => this.unpinForgotten();
  }

  /** The state at `revision`, which is before the last event; undefined when the log does not reach back so far. */
  at(revision: Revision, newest: OrderedTree<CacheEntry>): OrderedTree<CacheEntry> | undefined {
    if (revision < this.log.floor) return undefined;
    const state = this.take((pinned) => pinned.from <= revision && revision < pinned.until);
    const used = state ?? this.rebuild(revision, newest);
    if (this.pinned.length >= this.limit) this.pinned.shift();
    this.pinned.push(used);
    return used.tree;
  }

  private take(isWanted: (state: PinnedState) => boolean): PinnedState | undefined {
    const index = this.pinned.findIndex(isWanted);
    return index < 0 ? undefined : this.pinned.splice(index, 1)[0];
  }

  private rebuild(revision: Revision, newest: OrderedTree<CacheEntry>): PinnedState {
    const { log } = this;
    // Starts from the nearest newer state, so that several lists near each other do not take back the same events.
    let base: PinnedState | undefined;
    for (const state of this.pinned) {
      if (state.from > revision && (base === undefined || state.from < base.from)) base = state;
    }
    const tree = (base?.tree ?? newest).clone();
    let from = log.floor;
    let until = base?.from ?? revision;
    const first = Math.max(log.base, log.seek(revision) - 1);
    for (let position = base === undefined ? log.end - 1 : log.seek(base.from); position >= first; position--) {
      const events = log.at(position)?.batch.events ?? [];
      for (let i = events.length - 1; i >= 0; i--) {
        const event = events[i] as CacheEvent;
        if (base !== undefined && event.revision > base.from) continue;
        if (event.revision <= revision) {
          from = Math.max(from, event.revision) as Revision;
          break;
        }
        takeBack(tree, event);
        until = event.revision;
      }
    }
    return { from, until, tree };
  }

  private unpinForgotten(): void {
    if (this.pinned.length > 0) this.pinned = this.pinned.filter(({ until }) => until > this.log.floor);
  }
}

function takeBack(tree: OrderedTree<CacheEntry>, event: CacheEvent): void {
  if (event.previous === undefined) tree.delete(event.entry.key);
  else tree.set(event.previous.key, event.previous);
}
