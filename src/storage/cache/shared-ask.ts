/** More at once would only compete for the store's time. */
const MAX_UNDER_WAY = 4;

/**
 * Lets callers share the answer to one question about the newest state. An answer is only good for callers that asked
 * before the question was sent. So a question is sent at the end of a turn of the event loop, when all requests that have
 * arrived together have joined it; and only some are under way while the next one gathers callers, however many ask.
 */
export class SharedAsk<T> {
  private readonly underWay = new Set<Promise<unknown>>();
  private next: Promise<T> | undefined;

  constructor(private readonly ask: () => Promise<T>) {}

  /** Rejects with the question's error, or with the signal's reason while others go on waiting. */
  get(signal?: AbortSignal): Promise<T> {
    this.next ??= this.send();
    return signal === undefined ? this.next : untilAborted(this.next, signal);
  }

  private async send(): Promise<T> {
    while (this.underWay.size >= MAX_UNDER_WAY) await Promise.race(this.underWay);
    await new Promise(setImmediate);
    // Whoever comes from now on comes too late for this one.
    this.next = undefined;
    const answer = this.ask();
    const settled = answer.catch(() => undefined);
    this.underWay.add(settled);
    try {
      return await answer;
    } finally {
      this.underWay.delete(settled);
    }
  }
}

function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) {
      answer.catch(() => undefined);
      return abort();
    }
    signal.addEventListener('abort', abort);
    const leave = (): void => signal.removeEventListener('abort', abort);
    answer.then(
      (value) => {
        leave();
        resolve(value);
      },
      (error: Error) => {
        leave();
        reject(error);
      },
    );
  });
}
