import type { X509Certificate } from 'node:crypto';
import { Gauge, type Registry } from 'prom-client';
import { HistogramSeries, SeriesHistogram } from './series';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** kube-apiserver's. */
const BOUNDS = [
  0,
  HOUR / 2,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  4 * DAY,
  7 * DAY,
  30 * DAY,
  90 * DAY,
  180 * DAY,
  365 * DAY,
];

/** How long the certificates of clients, and the server's own, are still good. */
export class CertificateMetrics {
  readonly #clients = new HistogramSeries({}, BOUNDS);
  /** Reading a date is dear, and a connection's certificate stays the same. */
  readonly #ends = new WeakMap<X509Certificate, number>();

  constructor(private readonly registry: Registry) {
    new SeriesHistogram({
      name: 'apiserver_client_certificate_expiration_seconds',
      help: 'How long the certificate of whoever made a request was still good.',
      labelNames: [],
      registry,
      bounds: BOUNDS,
      series: () => [this.#clients],
    });
  }

  /** A request was made with this certificate. */
  readonly clientShowed = (certificate: X509Certificate): void => {
    let endMs = this.#ends.get(certificate);
    if (endMs === undefined) this.#ends.set(certificate, (endMs = Date.parse(certificate.validTo)));
    this.#clients.observe((endMs - Date.now()) / 1000);
  };

  /** The server's own, asked for when the metrics are read; of several certificates of one name the first end counts. */
  observe(certificates: () => Iterable<{ readonly name: string; readonly certificate: X509Certificate }>): void {
    new Gauge({
      name: 'sternpost_certificate_expiration_timestamp_seconds',
      help: "When the server's own certificates, and those of the authorities that it trusts, end.",
      labelNames: ['name'],
      registers: [this.registry],
      aggregator: 'min',
      collect() {
        const ends = new Map<string, number>();
        for (const { name, certificate } of certificates()) {
          const end = Date.parse(certificate.validTo) / 1000;
          ends.set(name, Math.min(end, ends.get(name) ?? Infinity));
        }
        this.reset();
        for (const [name, end] of ends) this.set({ name }, end);
      },
    });
  }
}
