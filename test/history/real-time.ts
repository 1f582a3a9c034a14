import type { Timeline } from './timeline';

interface Bound {
  readonly at: number;
  readonly because: string;
}

/**
 * When each event can have happened, as far as clients can tell. The events' order is known (their revisions), so a run
 * is linearizable exactly when moments can be found for them that do not go back and that respect every bound: and those
 * exist when no event had to happen after a moment before which a later one must have happened already.
 */
export class RealTime {
  private readonly notBefore: Bound[];
  private readonly notAfter: Bound[];
  private readonly later: (() => readonly string[])[] = [];

  constructor(private readonly timeline: Timeline) {
    this.notBefore = timeline.events.map(() => ({ at: -Infinity, because: 'nothing' }));
    this.notAfter = timeline.events.map(() => ({ at: Infinity, because: 'nothing' }));
  }

  happenedAfter(index: number, at: number, because: string): void {
    if (at > this.notBefore[index]!.at) this.notBefore[index] = { at, because };
  }

  happenedBefore(index: number, at: number, because: string): void {
    if (at < this.notAfter[index]!.at) this.notAfter[index] = { at, because };
  }

  /** Leaves a check until every bound is known. */
  whenKnown(check: () => readonly string[]): void {
    this.later.push(check);
  }

  /**
   * Whether the state that event `from` brought (undefined: the first one) and event `until` ended (undefined: the last
   * one) can have been there at some moment between two times.
   */
  mayHaveStood(from: number | undefined, until: number | undefined, start: number, end: number): boolean {
    const begins =
      from === undefined ? -Infinity : Math.max(...this.notBefore.slice(0, from + 1).map((bound) => bound.at));
    const ends = until === undefined ? Infinity : Math.min(...this.notAfter.slice(until).map((bound) => bound.at));
    return begins <= end && ends >= start;
  }

  problems(): readonly string[] {
    const problems: string[] = this.later.flatMap((check) => check());
    let latest: (Bound & { readonly revision: number }) | undefined;
    for (const { index, revision } of this.timeline.events) {
      const after = this.notBefore[index]!;
      if (latest === undefined || after.at > latest.at) latest = { ...after, revision };
      const before = this.notAfter[index]!;
      if (before.at < latest.at) {
        problems.push(
          `not linearizable: revision ${revision} had happened by ${before.at} (${before.because}), ` +
            `but revision ${latest.revision}, not after it, happened after ${latest.at} (${latest.because})`,
        );
      }
    }
    return problems;
  }
}
