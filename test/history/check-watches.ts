import { differences } from './check-reads';
import type { Filter, Version, WatchItem, WatchSession, WatchStream } from './history';
import type { RealTime } from './real-time';
import { matches, sameFields, type Timeline, type TimelineEvent } from './timeline';

type Change = Exclude<WatchItem, { readonly type: 'BOOKMARK' }>;

/**
 * Every watch gave every event that it was about, once, in order, as what it was; a bookmark promised nothing that had not
 * been given; and each stream went on where the one before had ended.
 */
export function checkWatches(
  timeline: Timeline,
  sessions: readonly WatchSession[],
  realTime: RealTime,
): readonly string[] {
  return sessions.flatMap((session) => {
    const problems: string[] = [];
    let reached: number | undefined;
    session.streams.forEach((stream, i) => {
      const who = `${session.client}'s watch ${i + 1} after ${stream.after}`;
      if (reached !== undefined && stream.after !== reached) {
        problems.push(`${who} does not resume at ${reached}`);
      }
      const outcome = checkStream(timeline, stream, session.filter, who, realTime);
      problems.push(...outcome.problems);
      reached = outcome.reached ?? reached;
    });
    if (session.through !== undefined) {
      const missed = expectedChanges(timeline, session.filter, reached ?? 0, session.through);
      if (missed.length > 0) {
        problems.push(`${session.client}'s watch ended without ${missed.map(({ revision }) => revision).join(', ')}`);
      }
    }
    return problems;
  });
}

function checkStream(
  timeline: Timeline,
  { after, items }: WatchStream,
  filter: Filter | undefined,
  who: string,
  realTime: RealTime,
): { readonly problems: readonly string[]; readonly reached: number | undefined } {
  const problems: string[] = [];
  let rest = items;
  let reached: number;
  if (after === 'state') {
    const end = items.findIndex((item) => item.type === 'BOOKMARK' && item.endsInitial);
    // Broken off before it had told of everything: whatever came cannot be resumed from.
    if (end < 0) return { problems, reached: undefined };
    reached = items[end]!.revision;
    problems.push(...checkInitial(timeline, items.slice(0, end), filter, reached, who));
    rest = items.slice(end + 1);
  } else {
    reached = after;
  }
  for (const item of rest) {
    if (item.revision < reached || (item.revision === reached && item.type !== 'BOOKMARK')) {
      problems.push(`${who} gave a ${item.type} of revision ${item.revision} after ${reached}`);
      continue;
    }
    const expected = expectedChanges(timeline, filter, reached, item.revision);
    const last = item.type === 'BOOKMARK' ? undefined : expected.pop();
    if (expected.length > 0) {
      problems.push(`${who} left out ${expected.map(({ revision }) => revision).join(', ')} before ${item.revision}`);
    }
    if (item.type !== 'BOOKMARK') {
      problems.push(...checkChange(item, last, filter, who));
    }
    const told = timeline.indexAfter(item.revision) - 1;
    if (told >= 0) realTime.happenedBefore(told, item.at, `${who} told of ${item.revision}`);
    reached = item.revision;
  }
  return { problems, reached };
}

/** ADDED for exactly what matched at the revision of the bookmark that ends them, in order of the keys. */
function checkInitial(
  timeline: Timeline,
  items: readonly WatchItem[],
  filter: Filter | undefined,
  revision: number,
  who: string,
): readonly string[] {
  const problems: string[] = [];
  const given = new Map<string, Version>();
  let before = '';
  for (const item of items) {
    if (item.type !== 'ADDED') {
      problems.push(`${who} gave a ${item.type} among its initial events`);
      continue;
    }
    if (item.key <= before) problems.push(`${who} gave ${item.key} after ${before}`);
    before = item.key;
    given.set(item.key, item);
  }
  const expected = new Map([...timeline.stateAt(revision)].filter(([, { fields }]) => matches(filter, fields)));
  return [
    ...problems,
    ...differences(given, expected).map(
      (difference) => `${who} did not begin with the state at ${revision}: ${difference}`,
    ),
  ];
}

/** The events after one revision, up to another, that a watch with this filter is about. */
function expectedChanges(timeline: Timeline, filter: Filter | undefined, after: number, upTo: number): TimelineEvent[] {
  const changes: TimelineEvent[] = [];
  for (let i = timeline.indexAfter(after); i < timeline.events.length; i++) {
    const event = timeline.events[i] as TimelineEvent;
    if (event.revision > upTo) break;
    if (expectedType(event, filter) !== undefined) changes.push(event);
  }
  return changes;
}

/** What an event is to a watch with this filter; undefined: nothing. */
function expectedType(
  { type, fields, previous }: TimelineEvent,
  filter: Filter | undefined,
): Change['type'] | undefined {
  const before = previous !== undefined && matches(filter, previous.fields);
  const now = type === 'put' && matches(filter, fields);
  if (now) return before ? 'MODIFIED' : 'ADDED';
  return before ? 'DELETED' : undefined;
}

function checkChange(
  item: Change,
  event: TimelineEvent | undefined,
  filter: Filter | undefined,
  who: string,
): readonly string[] {
  if (event?.revision !== item.revision || event.key !== item.key) {
    return [`${who} gave revision ${item.revision} of ${item.key}, which is none of its events`];
  }
  const type = expectedType(event, filter);
  if (type !== item.type) return [`${who} gave revision ${item.revision} as ${item.type} instead of ${type}`];
  // One that ceases to match is shown as it was.
  const fields = type === 'DELETED' ? event.previous?.fields : event.fields;
  if (item.uid !== event.uid || fields === undefined || !sameFields(item.fields, fields)) {
    return [`${who} gave another object as revision ${item.revision} of ${item.key}`];
  }
  return [];
}
