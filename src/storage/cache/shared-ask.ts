/** More at once would only compete for the store's time. */
const MAX_UNDER_WAY = 4;

/**
 * Lets callers share the answer to one question about the newest state. An answer is only good for callers that asked
 * before the question was sent. So a question is sent at the end of a turn of the event loop, when all requests that have
 * arrived together have joined it; and only some are under way while the next one gathers callers, however many ask.
 */
export class SharedAsk<T> {
  private underWay = 0;
  private next: Promise<T> | undefined;
  /** Wakes the question that waits until there is room for it. */
  private hasRoom: (() => void) | undefined;

  constructor(private readonly ask: () => Promise<T>) {}

  /** Rejects with the question's error, or with the signal's reason while others go on waiting. */
  get(signal?: AbortSignal): Promise<T> {
    this.next ??= this.send();
    return signal === undefined ? this.next : untilAborted(this.next, signal);
  }

  private async send(): Promise<T> {
    if (this.underWay >= MAX_UNDER_WAY) await new Promise<void>((resolve) => (this.hasRoom = resolve));
    await new Promise(setImmediate);
    // Whoever comes from now on comes too late for this one.
    this.next = undefined;
    this.underWay++;
    try {
      return await this.ask();
    } finally {
      this.underWay--;
      this.hasRoom?.();
      this.hasRoom = undefined;
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
