/** More at once would only compete for the store's time. */
const MAX_UNDER_WAY = 4;

/** For how many turns of the event loop a question gathers callers at most. */
const GATHERING_TURNS = 16;

/** How long after its caller gave up a call may go on waiting. */
const ABORT_PRECISION_MS = 50;

interface Caller<T> {
  readonly signal: AbortSignal | undefined;
  readonly resolve: (response: T) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Lets callers share the answer to one question about the newest state. An answer is only good for callers that asked
 * before the question was sent. So a question waits for some turns of the event loop, for the requests that are on their way
 * as it is made: clients that were answered together come back one after the other, and a question costs more than a
 * short wait. And only some are under way while the next one gathers callers, however many ask.
 */
export class RevisionReadBatcher<T> {
  private underWay = 0;
  /** How long the last answer took. */
  private responseMs = 0;
  /** Who waits for the question that has not been sent yet, and for all that have no answer. */
  private next: Caller<T>[] | undefined;
  private unanswered: (readonly Caller<T>[])[] = [];
  /** Wakes the question that waits until there is room for it. */
  private hasRoom: (() => void) | undefined;
  private abortTimer: NodeJS.Timeout | undefined;

  constructor(private readonly ask: () => Promise<T>) {}

  /** Rejects with the question's error, or with the signal's reason while others go on waiting. */
  get(signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.next === undefined) void this.send((this.next = []));
      this.next.push({ signal, resolve, reject });
    });
  }

  /** Never rejects. */
  private async send(callers: readonly Caller<T>[]): Promise<void> {
    this.unanswered.push(callers);
    this.abortTimer ??= this.startAbortTimer();
    if (this.underWay >= MAX_UNDER_WAY) await new Promise<void>((resolve) => (this.hasRoom = resolve));
    await this.gather();
    // A call from now on comes too late for this one.
    this.next = undefined;
    this.underWay++;
    const sentAt = performance.now();
    try {
      const response = await this.ask();
      this.responseMs = performance.now() - sentAt;
      for (const { resolve } of callers) resolve(response);
    } catch (error) {
      for (const { reject } of callers) reject(error as Error);
    } finally {
      this.unanswered = this.unanswered.filter((others) => others !== callers);
      this.underWay--;
      this.hasRoom?.();
      this.hasRoom = undefined;
    }
  }

  /** For no longer than an answer takes: where the store is quick there is little to gain. */
  private async gather(): Promise<void> {
    const end = performance.now() + this.responseMs;
    let turns = 0;
    do await new Promise(setImmediate);
    while (++turns < GATHERING_TURNS && performance.now() < end);
  }

  /** One timer for all callers: a listener for each costs more than looking through now and then. */
  private startAbortTimer(): NodeJS.Timeout {
    return setTimeout(() => {
      for (const callers of this.unanswered) {
        for (const { signal, reject } of callers) if (signal?.aborted === true) reject(signal.reason as Error);
      }
      this.abortTimer = this.unanswered.length > 0 ? this.startAbortTimer() : undefined;
    }, ABORT_PRECISION_MS).unref();
  }
}
