import { setTimeout as delay } from 'node:timers/promises';
import { BackOff } from '../async/back-off';
import { cacheLimit } from '../memory/memory-limit';
import type { AuditBackend, ReportLoss } from './backend';
import { printEvent, type AuditEvent } from './event';

/** What came of sending a list of events. */
export interface WebhookResponse {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
}

/** Sends the JSON of an EventList; rejects when there is no answer. */
export type PostEvents = (list: string) => Promise<WebhookResponse>;

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
      const response = await post(list).catch((error: unknown) => error as Error);
      if (!(response instanceof Error) && response.status >= 200 && response.status <= 299) return true;
      if (attempt === MAX_ATTEMPTS || !isWorthAnotherTry(response) || this.#closing.signal.aborted) {
        const reason = response instanceof Error ? response.message : `the server answered ${response.status}`;
        this.report('webhook', events, reason);
        return false;
      }
      const asked = response instanceof Error ? 0 : (response.retryAfterSeconds ?? 0) * 1000;
      const pause = Math.min(Math.max(asked, backOff.next()), LONGEST_WAIT_MS);
      await delay(pause, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
  }
}

/** A server that is busy or broken, or that has dropped the connection. What it refuses it would refuse again. */
function isWorthAnotherTry(response: WebhookResponse | Error): boolean {
  if (response instanceof Error) return true;
  return [429, 500, 504].includes(response.status) || response.retryAfterSeconds !== undefined;
}
