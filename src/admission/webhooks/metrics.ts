import type { Registry } from 'prom-client';
import {
  HistogramSeries,
  SeriesCounter,
  SeriesHistogram,
  type CounterSeries,
  type Labels,
} from '../../observability/series';
import type { Operation } from '../plugin';
import type { Webhook } from './webhook';

/** Why a webhook's answer, or the lack of one, has refused a request. */
export type RejectionReason = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';

/** What came of one call. */
export interface CallOutcome {
  readonly webhook: Webhook;
  readonly operation: Operation;
  readonly seconds: number;
  /** The request is refused for it. */
  readonly rejected: boolean;
  /** The HTTP status that it stands for. */
  readonly code: number;
}

const BOUNDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
/** Webhooks choose codes: those above are counted together. */
const GREATEST_CODE = 600;
/** Names of webhooks come and go with their configurations; series beyond so many are not begun. */
const MAX_SERIES = 10_000;

/** What webhooks cost and refuse, under kube-apiserver's names. One per server; the registry is passed in. */
export class WebhookMetrics {
  private readonly durations = new Map<string, HistogramSeries>();
  private readonly rejections = new Map<string, CounterSeries>();
  private readonly failedOpen = new Map<string, CounterSeries>();
  private readonly requests = new Map<string, CounterSeries>();

  constructor(registry: Registry) {
    new SeriesHistogram({
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'Time that one admission webhook took to decide about a request.',
      labelNames: ['name', 'operation', 'rejected', 'type'],
      registry,
      bounds: BOUNDS,
      series: () => this.durations.values(),
    });
    new SeriesCounter({
      name: 'apiserver_admission_webhook_rejection_count',
      help: 'Requests refused by an admission webhook, or because of one.',
      labelNames: ['error_type', 'name', 'operation', 'rejection_code', 'type'],
      registry,
      series: () => this.rejections.values(),
    });
    new SeriesCounter({
      name: 'apiserver_admission_webhook_fail_open_count',
      help: 'Failures of admission webhooks that let the request pass, as their failurePolicy says.',
      labelNames: ['name', 'type'],
      registry,
      series: () => this.failedOpen.values(),
    });
    new SeriesCounter({
      name: 'apiserver_admission_webhook_request_total',
      help: 'Calls of admission webhooks.',
      labelNames: ['code', 'name', 'operation', 'rejected', 'type'],
      registry,
      series: () => this.requests.values(),
    });
  }

  recordCall({ webhook: { name, type }, operation, seconds, rejected, code }: CallOutcome): void {
    const labels = { name, operation, rejected: String(rejected), type };
    const key = seriesKey(labels);
    let series = this.durations.get(key);
    if (series === undefined) {
      series = new HistogramSeries(labels, BOUNDS);
      if (this.durations.size < MAX_SERIES) this.durations.set(key, series);
    }
    series.observe(seconds);
    count(this.requests, { code: codeLabel(code), ...labels });
  }

  /** `code`: the webhook's own; 0 where it did not come to that. */
  recordRejection({ name, type }: Webhook, operation: Operation, reason: RejectionReason, code: number): void {
    count(this.rejections, { error_type: reason, name, operation, rejection_code: codeLabel(code), type });
  }

  recordFailedOpen({ name, type }: Webhook): void {
    count(this.failedOpen, { name, type });
  }
}

function codeLabel(code: number): string {
  return String(Math.min(code, GREATEST_CODE));
}

function seriesKey(labels: Labels): string {
  return Object.values(labels).join(' ');
}

function count(all: Map<string, CounterSeries>, labels: Labels): void {
  const key = seriesKey(labels);
  let series = all.get(key);
  if (series === undefined) {
    if (all.size >= MAX_SERIES) return;
    all.set(key, (series = { labels, value: 0 }));
  }
  series.value += 1;
}
