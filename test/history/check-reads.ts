import type { Freshness, GetCall, ListCall, Version } from './history';
import type { RealTime } from './real-time';
import { matches, sameVersion, type Timeline, type TimelineEvent } from './timeline';

/** Every read gave a state that there was, not from the future, and no older than it had asked for. */
export function checkReads(
  timeline: Timeline,
  reads: readonly (GetCall | ListCall)[],
  realTime: RealTime,
): readonly string[] {
  return reads.flatMap((read) =>
    read.kind === 'get' ? checkGet(timeline, read, realTime) : checkList(timeline, read, realTime),
  );
}

function describe({ client, kind, key, calledAt }: GetCall | ListCall): string {
  return `${client}'s ${kind} of ${key} at ${calledAt}`;
}

function checkGet(timeline: Timeline, read: GetCall, realTime: RealTime): readonly string[] {
  const { found, key, freshness } = read;
  if (found === undefined) return checkAbsence(timeline, read, realTime);
  const event = timeline.at(found.revision);
  if (event?.key !== key || event.type !== 'put' || !sameVersion(event, found)) {
    return [`${describe(read)} gave revision ${found.revision}, which never was`];
  }
  realTime.happenedBefore(event.index, read.returnedAt, `${describe(read)} saw it`);
  return checkAge(read, freshness, timeline.nextOf(key, found.revision), realTime);
}

/** What replaced the answer must not have been there when it was promised to be seen. */
function checkAge(
  read: GetCall | ListCall,
  freshness: Freshness,
  successor: TimelineEvent | undefined,
  realTime: RealTime,
): readonly string[] {
  if (successor === undefined) return [];
  if (freshness.type === 'newest') {
    realTime.happenedAfter(successor.index, read.calledAt, `${describe(read)} did not see it`);
  } else if (freshness.type === 'not older than' && successor.revision <= freshness.revision) {
    return [`${describe(read)} asked for ${freshness.revision} and got what ${successor.revision} had replaced`];
  }
  return [];
}

/** A 404 stands for one of the times without the object. Which one is not told: any that fits will do. */
function checkAbsence(timeline: Timeline, read: GetCall, realTime: RealTime): readonly string[] {
  const gaps = timeline.gapsOf(read.key);
  const { freshness, calledAt, returnedAt } = read;
  if (freshness.type === 'not older than') {
    const isAbsentLater = gaps.some(({ until }) => until === undefined || until.revision > freshness.revision);
    return isAbsentLater ? [] : [`${describe(read)} found nothing, but it stood there from ${freshness.revision} on`];
  }
  const noEarlierThan = freshness.type === 'newest' ? calledAt : -Infinity;
  realTime.whenKnown(() =>
    gaps.some(({ from, until }) => realTime.mayHaveStood(from?.index, until?.index, noEarlierThan, returnedAt))
      ? []
      : [`${describe(read)} found nothing, but it stood there all the time`],
  );
  return [];
}

function checkList(timeline: Timeline, read: ListCall, realTime: RealTime): readonly string[] {
  const { revision, items, filter, freshness } = read;
  const expected = new Map([...timeline.stateAt(revision)].filter(([, { fields }]) => matches(filter, fields)));
  const problems = differences(items, expected).map(
    (difference) => `${describe(read)} is not the state at ${revision}: ${difference}`,
  );
  const after = timeline.indexAfter(revision);
  if (after > 0) realTime.happenedBefore(after - 1, read.returnedAt, `${describe(read)} saw it`);
  if (freshness.type === 'exact' && revision !== freshness.revision) {
    problems.push(`${describe(read)} asked for exactly ${freshness.revision} and got ${revision}`);
  }
  if (freshness.type === 'not older than' && revision < freshness.revision) {
    problems.push(`${describe(read)} asked for ${freshness.revision} and got ${revision}`);
  }
  return [...problems, ...checkAge(read, freshness, timeline.events[after], realTime)];
}

export function differences(
  items: ReadonlyMap<string, Version>,
  expected: ReadonlyMap<string, Version>,
): readonly string[] {
  const keys = new Set([...items.keys(), ...expected.keys()]);
  return [...keys].flatMap((key) => {
    const item = items.get(key);
    const wanted = expected.get(key);
    if (item !== undefined && wanted !== undefined && sameVersion(item, wanted)) return [];
    return [`${key} is ${item?.revision ?? 'absent'} instead of ${wanted?.revision ?? 'absent'}`];
  });
}
