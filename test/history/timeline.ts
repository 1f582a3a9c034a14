import type { Fields, Filter, TruthEvent, Version } from './history';

/** An event with what stood there before it. */
export interface TimelineEvent extends TruthEvent {
  readonly index: number;
  readonly previous: Version | undefined;
}

/** From one event (absent: the beginning) to another (absent: the end). */
export interface Span {
  readonly from: TimelineEvent | undefined;
  readonly until: TimelineEvent | undefined;
}

export function matches(filter: Filter | undefined, fields: Fields): boolean {
  return filter === undefined || fields[filter.field] === filter.value;
}

/** The truth, indexed. */
export class Timeline {
  readonly events: readonly TimelineEvent[];
  private readonly byKey = new Map<string, TimelineEvent[]>();
  private readonly byRevision = new Map<number, TimelineEvent>();

  constructor(truth: readonly TruthEvent[]) {
    const standing = new Map<string, Version>();
    this.events = truth.map((event, index) => {
      const entry = { ...event, index, previous: standing.get(event.key) };
      if (event.type === 'put') standing.set(event.key, event);
      else standing.delete(event.key);
      const ofKey = this.byKey.get(event.key);
      if (ofKey === undefined) this.byKey.set(event.key, [entry]);
      else ofKey.push(entry);
      this.byRevision.set(event.revision, entry);
      return entry;
    });
  }

  ofKey(key: string): readonly TimelineEvent[] {
    return this.byKey.get(key) ?? [];
  }

  at(revision: number): TimelineEvent | undefined {
    return this.byRevision.get(revision);
  }

  /** The first event of the key after `revision`. */
  nextOf(key: string, revision: number): TimelineEvent | undefined {
    return this.ofKey(key).find((event) => event.revision > revision);
  }

  /** The times without the object, each between the events that begin and end it. */
  gapsOf(key: string): readonly Span[] {
    return this.spansOf(key, 'delete');
  }

  /** The times with the object. */
  livesOf(key: string): readonly Span[] {
    return this.spansOf(key, 'put').filter(({ from }) => from !== undefined);
  }

  private spansOf(key: string, type: TimelineEvent['type']): readonly Span[] {
    const turns = this.ofKey(key).filter((event) => event.type === 'delete' || event.previous === undefined);
    const spans: Span[] = [{ from: undefined, until: turns[0] }];
    turns.forEach((turn, i) => {
      if (turn.type === type) spans.push({ from: turn, until: turns[i + 1] });
    });
    return spans;
  }

  /** The position of the first event after `revision`. */
  indexAfter(revision: number): number {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.events[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Everything that stood there as of a revision. */
  stateAt(revision: number): ReadonlyMap<string, Version> {
    const state = new Map<string, Version>();
    for (const event of this.events) {
      if (event.revision > revision) break;
      if (event.type === 'put') state.set(event.key, event);
      else state.delete(event.key);
    }
    return state;
  }
}

export function sameFields(a: Fields, b: Fields): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

export function sameVersion(a: Version, b: Version): boolean {
  return a.revision === b.revision && a.uid === b.uid && sameFields(a.fields, b.fields);
}
