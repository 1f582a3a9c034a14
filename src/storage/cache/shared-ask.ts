/**
 * Lets callers share the answer to one question about the newest state. An answer is only good for callers that asked
 * before the question was sent: whoever comes while one is under way gets the next. So at most one question is under way
 * and one waits its turn, however many ask.
 */
export class SharedAsk<T> {
  private underWay: Promise<T> | undefined;
  private next: Promise<T> | undefined;

  constructor(private readonly ask: () => Promise<T>) {}

  /** Rejects with the question's error, or with the signal's reason while others go on waiting. */
  get(signal?: AbortSignal): Promise<T> {
    const answer = this.join();
    return signal === undefined ? answer : untilAborted(answer, signal);
  }

  private join(): Promise<T> {
    // The next has not been sent yet, even when the one before it has just been answered.
    if (this.next !== undefined) return this.next;
    if (this.underWay === undefined) return this.start();
    this.next = this.startAfter(this.underWay);
    return this.next;
  }

  private start(): Promise<T> {
    const answer = this.ask().finally(() => {
      if (this.underWay === answer) this.underWay = undefined;
    });
    this.underWay = answer;
    return answer;
  }

  private async startAfter(previous: Promise<T>): Promise<T> {
    await previous.catch(() => undefined);
    this.next = undefined;
    return this.start();
  }
}

function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) {
      answer.catch(() => undefined);
      return abort();
    }
    signal.addEventListener('abort', abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
