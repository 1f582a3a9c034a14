import type { Revision } from '../store';

interface Waiter {
  readonly revision: Revision;
  readonly settle: (reached: boolean) => void;
}

/** Callers that wait until memory has reached a revision; woken by `advance`, never by polling. */
export class RevisionWaiters {
  /** By revision, ascending. Most callers want the newest, so they are added at the end. */
  private waiting: Waiter[] = [];
  private closed = false;

  get size(): number {
    return this.waiting.length;
  }

  /** True once `revision` was reached; false after `timeoutMs` or when closed; rejects with the signal's reason. */
  wait(revision: Revision, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      if (this.closed || timeoutMs <= 0) return resolve(false);
      const settle = (reached: boolean): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        resolve(reached);
      };
      const waiter = { revision, settle };
      const leave = (): void => {
        const index = this.waiting.indexOf(waiter);
        if (index >= 0) this.waiting.splice(index, 1);
      };
      const abort = (): void => {
        clearTimeout(timer);
        leave();
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        leave();
        settle(false);
      }, timeoutMs);
      signal?.addEventListener('abort', abort, { once: true });
      this.add(waiter);
    });
  }

  advance(reached: Revision): void {
    const first = this.waiting.findIndex((waiter) => waiter.revision > reached);
    const satisfied = this.waiting.splice(0, first < 0 ? this.waiting.length : first);
    for (const waiter of satisfied) waiter.settle(true);
  }

  close(): void {
    this.closed = true;
    for (const waiter of this.waiting.splice(0)) waiter.settle(false);
  }

  private add(waiter: Waiter): void {
    let index = this.waiting.length;
    while (index > 0 && (this.waiting[index - 1] as Waiter).revision > waiter.revision) index--;
    this.waiting.splice(index, 0, waiter);
  }
}
