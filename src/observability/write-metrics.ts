import type { Registry } from 'prom-client';
import { HistogramSeries, SeriesHistogram } from './series';

/** Some of kube-apiserver's bounds: bodies are at most 3 MiB. */
const BODY_BOUNDS = [50_000, 150_000, 350_000, 1_050_000, 1_550_000, 3_050_000];
const DURATION_BOUNDS = [0.05, 0.1, 0.4, 1, 5, 10, 30];

/** More than any cluster has; beyond them bodies are counted by their verb alone. */
const MAX_SERIES = 2_000;

/** What is measured of requests that have a body, under kube-apiserver's names. */
export class WriteMetrics {
  readonly #bodies = new Map<string, HistogramSeries>();
  readonly #validations = new Map<string, HistogramSeries>();

  constructor(registry: Registry) {
    new SeriesHistogram({
      name: 'apiserver_request_body_size_bytes',
      help: 'Bytes of the bodies of requests.',
      labelNames: ['resource', 'verb'],
      registry,
      bounds: BODY_BOUNDS,
      series: () => this.#bodies.values(),
    });
    new SeriesHistogram({
      name: 'field_validation_request_duration_seconds',
      help: 'Time of writes, by how strictly their fields are validated.',
      labelNames: ['field_validation'],
      registry,
      bounds: DURATION_BOUNDS,
      series: () => this.#validations.values(),
    });
  }

  /** `resource`: with its group, as in `deployments.apps`; `verb`: `create`, `update`, `patch`, `delete`. */
  recordBody(resource: string, verb: string, bytes: number): void {
    const key = `${verb} ${resource}`;
    let series = this.#bodies.get(key);
    if (series === undefined) {
      if (resource !== '' && this.#bodies.size >= MAX_SERIES) return this.recordBody('', verb, bytes);
      series = new HistogramSeries(resource === '' ? { verb } : { resource, verb }, BODY_BOUNDS);
      this.#bodies.set(key, series);
    }
    series.observe(bytes);
  }

  recordValidation(fieldValidation: string, durationSeconds: number): void {
    let series = this.#validations.get(fieldValidation);
    if (series === undefined) {
      series = new HistogramSeries({ field_validation: fieldValidation }, DURATION_BOUNDS);
      this.#validations.set(fieldValidation, series);
    }
    series.observe(durationSeconds);
  }

  forgetUnserved(isServed: (resource: string) => boolean): void {
    for (const [key, { labels }] of this.#bodies) {
      const { resource } = labels;
      if (resource !== undefined && !isServed(resource)) this.#bodies.delete(key);
    }
  }
}
