import type { Registry } from 'prom-client';
import { HistogramSeries, SeriesCounter, SeriesHistogram, type CounterSeries } from '../observability/series';

/** One request of a client to a server, when it is over. */
export interface ClientCall {
  /** `host:port`. */
  readonly host: string;
  readonly method: string;
  /** `<error>`: there was no answer, as Go's clients put it. */
  readonly code: number | '<error>';
  readonly durationSeconds: number;
}

export type RecordClientCall = (call: ClientCall) => void;

const BOUNDS = [0.005, 0.025, 0.1, 0.5, 2, 8, 30];
/** Webhooks' hosts come and go with their configurations; beyond so many they count together. */
const MAX_SERIES = 1_000;

/** `rest_client_*`: what the clients in this process ask of API servers and webhooks. One per registry. */
export class RestClientMetrics {
  readonly #requests = new Map<string, CounterSeries>();
  readonly #durations = new Map<string, HistogramSeries>();

  constructor(registry: Registry) {
    new SeriesCounter({
      name: 'rest_client_requests_total',
      help: 'Requests to API servers and webhooks, by the code of the answer.',
      labelNames: ['code', 'host', 'method'],
      registry,
      series: () => this.#requests.values(),
    });
    new SeriesHistogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Time until such a request was answered.',
      labelNames: ['host', 'verb'],
      registry,
      bounds: BOUNDS,
      series: () => this.#durations.values(),
    });
  }

  readonly record: RecordClientCall = ({ host: to, method, code, durationSeconds }) => {
    const host = this.#durations.size < MAX_SERIES || this.#durations.has(`${method} ${to}`) ? to : 'other';
    const id = `${code} ${method} ${host}`;
    const known = this.#requests.get(id);
    if (known === undefined) this.#requests.set(id, { labels: { code: String(code), host, method }, value: 1 });
    else known.value++;
    const key = `${method} ${host}`;
    let series = this.#durations.get(key);
    if (series === undefined) this.#durations.set(key, (series = new HistogramSeries({ host, verb: method }, BOUNDS)));
    series.observe(durationSeconds);
  };
}
