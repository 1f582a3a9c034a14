import type { CompactedError, Revision } from '../store';
import { SlowWatcherError, type CacheBatch, type CacheEvent, type ResourceWatch, type WatchInterest } from './cache';
import type { EventFeed } from './event-feed';
import type { LoggedBatch } from './event-log';
import type { WaitingReader } from './waiting-readers';

/** What a watch needs of its resource. */
export interface WatchedResource {
  /** The current feed; another one after history was lost. */
  readonly feed: EventFeed;
  /** The revision that memory has reached. */
  readonly reached: Revision;
  /** The store's own events, which reach further back than the feed. */
  readonly storeEvents: (after: Revision, signal: AbortSignal) => AsyncGenerator<CacheBatch>;
  /** Wants progress reports from the store until the returned function is called. */
  readonly needProgress: () => () => void;
  /** Watches that read from the store, so that the resource can end them. */
  readonly catchingUp: Set<WaitingReader>;
}

type Result = IteratorResult<CacheBatch, undefined>;

interface StoreReading {
  readonly events: AsyncGenerator<CacheBatch>;
  readonly close: () => void;
}

const DONE = { done: true, value: undefined } as const;

/**
 * A watch of one resource in three phases. *Catch up*: events older than the log are read from the store. *Cut over*: as
 * soon as the log reaches back to the last revision given out, reading goes on there, by revision, so that nothing is
 * missed or doubled. *Stream*: the watch is a position in the log that all watches share. It has no queue of its own; one
 * that does not keep up finds that the log has dropped its position, or that it is too many events behind, and ends.
 */
export class LogWatch implements ResourceWatch, AsyncIterator<CacheBatch, undefined>, WaitingReader {
  private phase: 'catch up' | 'stream' | 'ended' = 'catch up';
  private reading: StoreReading | undefined;
  private feed: EventFeed;
  private position = 0;
  private pending: { readonly resolve: (result: Result) => void; readonly reject: (error: Error) => void } | undefined;

  constructor(
    private readonly resource: WatchedResource,
    /** Every event up to here has been given out, or was not wanted. */
    private given: Revision,
    private readonly signal: AbortSignal,
    private readonly maxEventsBehind: number,
    readonly interest?: WatchInterest,
  ) {
    this.feed = resource.feed;
  }

  get progress(): Revision {
    this.skipSettled();
    const drained = this.phase === 'stream' && this.feed.ended === undefined && this.position === this.feed.log.end;
    return drained && this.resource.reached > this.given ? this.resource.reached : this.given;
  }

  get isTooFarBehind(): boolean {
    this.skipSettled();
    const { log, ended } = this.feed;
    if (this.phase !== 'stream' || ended !== undefined) return false;
    return this.position < log.base || this.exceedsEventsBehind(log.at(this.position));
  }

  [Symbol.asyncIterator](): this {
    if (this.signal.aborted) this.close();
    else this.signal.addEventListener('abort', this, { once: true });
    return this;
  }

  /** The abort signal's listener: an object instead of a closure, since there are many watches. */
  handleEvent(): void {
    this.finish(undefined);
  }

  next(): Promise<Result> {
    switch (this.phase) {
      case 'catch up':
        return this.catchUp();
      case 'stream':
        return this.fromLog();
      case 'ended':
        return Promise.resolve(DONE);
    }
  }

  return(): Promise<Result> {
    this.finish(undefined);
    return Promise.resolve(DONE);
  }

  deliver(): void {
    const { pending } = this;
    if (pending === undefined) return;
    this.skipSettled();
    const found = this.advance();
    if (found === undefined) return;
    this.pending = undefined;
    if (found instanceof SlowWatcherError) void this.endWith(found).catch((error: Error) => pending.reject(error));
    else pending.resolve(found);
  }

  finish(gap: CompactedError | undefined): void {
    this.skipSettled();
    const { pending } = this;
    this.pending = undefined;
    const end = this.afterFeed(gap);
    if (pending !== undefined) end.then(pending.resolve, pending.reject);
    // No call waits, so none can be told before the next one, which finds the watch ended.
    else end.catch(() => undefined);
  }

  private async catchUp(): Promise<Result> {
    while (!this.logReachesBack()) {
      const step = await this.fromStore();
      if (this.isEnded() || step.done === true) {
        this.close();
        return DONE;
      }
      if (step.value.revision > this.given) this.given = step.value.revision;
      if (step.value.events.length > 0) return step;
    }
    this.cutOver();
    return this.next();
  }

  private logReachesBack(): boolean {
    const { feed } = this.resource;
    return this.isEnded() || feed.ended !== undefined || feed.log.floor <= this.given;
  }

  private async fromStore(): Promise<IteratorResult<CacheBatch, unknown>> {
    this.reading ??= this.openStore();
    try {
      return await this.reading.events.next();
    } catch (error) {
      if (this.isEnded()) return DONE;
      this.close();
      throw error;
    }
  }

  private openStore(): StoreReading {
    const controller = new AbortController();
    const events = this.resource.storeEvents(this.given, controller.signal);
    const enough = this.resource.needProgress();
    this.resource.catchingUp.add(this);
    const close = (): void => {
      this.resource.catchingUp.delete(this);
      enough();
      controller.abort();
      // What the store says to a watch that is not read any more is of no interest.
      events.return(undefined).catch(() => undefined);
    };
    return { events, close };
  }

  private cutOver(): void {
    if (this.isEnded()) return;
    this.reading?.close();
    this.reading = undefined;
    this.feed = this.resource.feed;
    this.position = this.feed.log.seek(this.given);
    this.phase = 'stream';
    this.feed.readers.add(this);
  }

  private fromLog(): Promise<Result> {
    const { ended } = this.feed;
    if (ended !== undefined) return this.afterFeed(ended.gap);
    const found = this.advance();
    if (found instanceof SlowWatcherError) return this.endWith(found);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      this.pending = { resolve, reject };
    });
  }

  /** While it waits it is told of what concerns it, and of nothing else. */
  private skipSettled(): void {
    if (this.pending === undefined || this.phase !== 'stream') return;
    const { position, revision } = this.feed.settled;
    if (position > this.position) this.position = position;
    if (revision > this.given) this.given = revision;
  }

  /** The next batch of the log that has anything new; undefined when all that was delivered has been taken. */
  private advance(): Result | SlowWatcherError | undefined {
    const { log } = this.feed;
    if (this.position < log.base) return new SlowWatcherError();
    const joined = this.feed.joinedFrom(this.position);
    if (joined !== undefined) {
      const result = this.take(joined.result, joined.to);
      if (result !== undefined) return result;
    }
    while (this.position < this.feed.delivered) {
      const logged = log.at(this.position) as LoggedBatch;
      if (this.exceedsEventsBehind(logged)) return new SlowWatcherError();
      const result = this.take(logged.result, this.position + 1);
      if (result !== undefined) return result;
    }
    return undefined;
  }

  private exceedsEventsBehind(next: LoggedBatch | undefined): boolean {
    return next !== undefined && this.feed.log.total - next.eventsBefore > this.maxEventsBehind;
  }

  /** A watch that has given out what memory missed goes on from the store; for the others history is gone. */
  private afterFeed(gap: CompactedError | undefined): Promise<Result> {
    if (gap === undefined || this.given + 1 < gap.compactRevision) return this.endWith(gap);
    this.phase = 'catch up';
    return this.catchUp();
  }

  /** Steps over the batch at the position, to the next one; undefined when all of it had been given out before. */
  private take(result: LoggedBatch['result'], next: number): Result | undefined {
    const given = this.given;
    const batch = result.value;
    this.position = next;
    if (batch.revision > given) this.given = batch.revision;
    if ((batch.events[0] as CacheEvent).revision > given) return result;
    const events = batch.events.filter((event) => event.revision > given);
    return events.length === 0 ? undefined : { done: false, value: { events, revision: batch.revision } };
  }

  private endWith(error: Error | undefined): Promise<Result> {
    this.close();
    return error === undefined ? Promise.resolve(DONE) : Promise.reject(error);
  }

  private isEnded(): boolean {
    return this.phase === 'ended';
  }

  private close(): void {
    if (this.phase === 'stream') this.feed.readers.delete(this);
    this.phase = 'ended';
    this.signal.removeEventListener('abort', this);
    this.reading?.close();
    this.reading = undefined;
  }
}
