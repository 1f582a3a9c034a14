import { checkReads } from './check-reads';
import { checkWatches } from './check-watches';
import { checkWrites } from './check-writes';
import type { GetCall, History, ListCall, WriteCall } from './history';
import { RealTime } from './real-time';
import { Timeline } from './timeline';

/**
 * What is wrong with a history; empty when nothing is. Proves of a run that no acknowledged write was lost, that updates
 * are linearizable per object and reads with them, that every read gave a state as fresh as it had promised, and that
 * every watch was complete, in order, without duplicates and resumable.
 */
export function checkHistory({ truth, calls, sessions }: History): readonly string[] {
  const timeline = new Timeline(truth);
  const realTime = new RealTime(timeline);
  const disorder = timeline.events.flatMap(({ revision, index }) => {
    const before = timeline.events[index - 1];
    return before !== undefined && revision <= before.revision
      ? [`revision ${revision} follows ${before.revision}`]
      : [];
  });
  const isWrite = (call: WriteCall | GetCall | ListCall): call is WriteCall => call.kind === 'write';
  const reads = calls.filter((call): call is GetCall | ListCall => !isWrite(call));
  const problems = [
    ...disorder,
    ...checkWrites(timeline, calls.filter(isWrite), realTime),
    ...checkReads(timeline, reads, realTime),
    ...checkWatches(timeline, sessions, realTime),
  ];
  return [...problems, ...realTime.problems()];
}
