import { setTimeout as delay } from 'node:timers/promises';
import { BackOff } from '../async/back-off';
import { cacheLimit } from '../memory/memory-limit';
import type { AuditBackend, ReportLoss } from './backend';
import { printEvent, type AuditEvent } from './event';

/** What came of sending a list of events. */
export interface WebhookAnswer {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
}

/** Sends the JSON of an EventList; rejects when there is no answer. */
export type PostEvents = (list: string) => Promise<WebhookAnswer>;

export interface WebhookOptions {
  readonly post: PostEvents;
  /** Before the second try; later ones wait longer. */
  readonly initialBackoffMs: number;
  readonly close: () => void;
}

const MAX_ATTEMPTS = 5;
const RETRIES = { factor: 1.5, jitter: 0.2 };
/** Characters of the lists that may be on their way at once; more are lost. */
const MOST_UNDER_WAY = cacheLimit(64 * 1024 * 1024);
/** However long a server asks to wait. */
const LONGEST_WAIT_MS = 60_000;

/** Sends events as lists to a server, which keeps them. What it refuses, or does not answer after some tries, is reported as lost. */
export class WebhookBackend implements AuditBackend {
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<boolean>>();
  #size = 0;

  constructor(
    private readonly options: WebhookOptions,
    private readonly report: ReportLoss,
  ) {}

  process(events: readonly AuditEvent[]): Promise<boolean> {
    const items = events.map((event) => `{${printEvent(event)}`).join(',');
    const list = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${items}]}`;
    if (this.#size + list.length > MOST_UNDER_WAY) {
      this.report('webhook', events.length, 'too many events are on their way');
      return Promise.resolve(false);
    }
    this.#size += list.length;
    const sending = this.#send(list, events.length).finally(() => {
      this.#size -= list.length;
      this.#running.delete(sending);
    });
    this.#running.add(sending);
    return sending;
  }

  async close(): Promise<void> {
    // There is no next try; what is on its way may arrive.
    this.#closing.abort();
    await Promise.all(this.#running);
    this.options.close();
  }

  async #send(list: string, events: number): Promise<boolean> {
    const { post, initialBackoffMs } = this.options;
    const backOff = new BackOff({ first: initialBackoffMs, ...RETRIES });
    for (let attempt = 1; ; attempt++) {
      const answer = await post(list).catch((error: unknown) => error as Error);
      if (!(answer instanceof Error) && answer.status >= 200 && answer.status <= 299) return true;
      if (attempt === MAX_ATTEMPTS || !isWorthAnotherTry(answer) || this.#closing.signal.aborted) {
        const reason = answer instanceof Error ? answer.message : `the server answered ${answer.status}`;
        this.report('webhook', events, reason);
        return false;
      }
      const asked = answer instanceof Error ? 0 : (answer.retryAfterSeconds ?? 0) * 1000;
      const pause = Math.min(Math.max(asked, backOff.next()), LONGEST_WAIT_MS);
      await delay(pause, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
  }
}

/** A server that is busy or broken, or that has dropped the connection. What it refuses it would refuse again. */
function isWorthAnotherTry(answer: WebhookAnswer | Error): boolean {
  if (answer instanceof Error) return true;
  return [429, 500, 504].includes(answer.status) || answer.retryAfterSeconds !== undefined;
}
