import { TokenBucket } from '../async/token-bucket';
import type { AuditBackend, ReportLoss } from './backend';
import { sizeOfEvent, type AuditEvent } from './event';

export interface BatchOptions {
  /** Events that may wait; more are dropped. */
  readonly bufferSize: number;
  /** So many make a batch that does not wait for more. */
  readonly maxBatchSize: number;
  readonly maxWaitMs: number;
  /** Batches a second. Absent: as many as there are. */
  readonly throttle?: { readonly qps: number; readonly burst: number };
  /** Characters of the events that may wait. */
  readonly maxWaiting: number;
  /** Batches that may be under way at once. */
  readonly concurrency: number;
  /** A batch takes all that wait, also more than `maxBatchSize`: for a backend to which that makes no difference. */
  readonly takesAll: boolean;
}

/** How often a batch that may not go yet looks again. */
const THROTTLE_CHECK_MS = 20;
/** Events that are handed on together at most where a batch takes all: what can be made of them without holding others up. */
const LARGEST_WRITE = 1_000;
/** What is left may take this long at the end. */
const LAST_BATCHES_MS = 10_000;

/**
 * Gathers events and hands them on later, so that no request waits for them. What comes while the buffer is full is dropped and
 * reported.
 */
export class BatchingBackend implements AuditBackend {
  readonly #waiting: AuditEvent[] = [];
  #size = 0;
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;
  #isClosing = false;
  #bucket: TokenBucket | undefined;
  readonly #running = new Set<Promise<unknown>>();

  constructor(
    private readonly backend: AuditBackend,
    private readonly options: BatchOptions,
    private readonly report: ReportLoss,
  ) {
    const { throttle } = options;
    if (throttle !== undefined) this.#bucket = new TokenBucket(throttle.qps, throttle.burst, performance.now());
  }

  process(events: readonly AuditEvent[]): boolean {
    const { bufferSize, maxWaiting } = this.options;
    let dropped = 0;
    for (const event of events) {
      const size = sizeOfEvent(event);
      if (this.#isClosing || this.#waiting.length >= bufferSize || this.#size + size > maxWaiting) {
        dropped++;
        continue;
      }
      this.#waiting.push(event);
      this.#size += size;
    }
    if (dropped > 0) this.report('buffered', dropped, 'audit buffer queue is full');
    this.#schedule();
    return true;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    // What is left need not wait for its turn.
    this.#bucket = undefined;
    clearTimeout(this.#timer);
    const deadline = AbortSignal.timeout(LAST_BATCHES_MS);
    const aborted = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve(), { once: true }));
    while ((this.#waiting.length > 0 || this.#running.size > 0) && !deadline.aborted) {
      if (this.#waiting.length > 0 && this.#underWay < this.options.concurrency) this.#send();
      await Promise.race([...this.#running, aborted]);
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length > 0) this.report('buffered', this.#waiting.length, 'the server has ended');
    await this.backend.close();
  }

  /** One timer: a full batch goes after this turn, another when the first of it has waited long enough. */
  #schedule(): void {
    const { maxBatchSize, maxWaitMs, concurrency } = this.options;
    // A batch that comes back asks again.
    if (this.#waiting.length === 0 || this.#underWay >= concurrency) return;
    const isDue = this.#waiting.length >= maxBatchSize || this.#isClosing;
    if (!isDue) this.#timer ??= setTimeout(() => this.#send(), maxWaitMs);
    else if (!this.#isDue) this.#sendAfter(0);
  }

  #sendAfter(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#isDue = true;
    this.#timer = setTimeout(() => this.#send(), milliseconds);
  }

  #send(): void {
    const { maxBatchSize, concurrency, takesAll } = this.options;
    this.#timer = undefined;
    this.#isDue = false;
    do {
      if (this.#bucket?.take(performance.now()) === false) return this.#sendAfter(THROTTLE_CHECK_MS);
      const batch = this.#waiting.splice(0, takesAll ? Math.max(maxBatchSize, LARGEST_WRITE) : maxBatchSize);
      for (const event of batch) this.#size -= sizeOfEvent(event);
      this.#run(batch);
    } while (this.#waiting.length >= maxBatchSize && this.#underWay < concurrency);
    this.#schedule();
  }

  #run(batch: readonly AuditEvent[]): void {
    this.#underWay++;
    const running = Promise.resolve(this.backend.process(batch)).finally(() => {
      this.#running.delete(running);
      this.#underWay--;
      this.#schedule();
    });
    this.#running.add(running);
  }
}
