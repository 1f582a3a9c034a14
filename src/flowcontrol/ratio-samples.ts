import { HistogramSeries, type Labels } from '../observability/series';

/** How often a ratio is looked at, as on kube-apiserver. */
const PERIOD_MS = 1;

export const RATIO_BOUNDS: readonly number[] = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/**
 * What a ratio is at the end of each millisecond, and its extremes in each: written down when it changes, for all the time in
 * which it did not.
 */
export class RatioSamples {
  readonly samples: HistogramSeries;
  readonly high: HistogramSeries;
  readonly low: HistogramSeries;
  #period = Math.floor(performance.now() / PERIOD_MS);
  #ratio = 0;
  #highest = 0;
  #lowest = 0;

  constructor(labels: Labels) {
    this.samples = new HistogramSeries(labels, RATIO_BOUNDS);
    this.high = new HistogramSeries({ ...labels, mark: 'high' }, RATIO_BOUNDS);
    this.low = new HistogramSeries({ ...labels, mark: 'low' }, RATIO_BOUNDS);
  }

  set(ratio: number, now: number): void {
    const period = Math.floor(now / PERIOD_MS);
    if (period > this.#period) this.#close(period);
    this.#ratio = ratio;
    if (ratio > this.#highest) this.#highest = ratio;
    if (ratio < this.#lowest) this.#lowest = ratio;
  }

  /** Up to now, for a scrape of the metrics. */
  catchUp(now: number): void {
    this.set(this.#ratio, now);
  }

  #close(period: number): void {
    const times = period - this.#period;
    this.samples.observe(this.#ratio, times);
    this.high.observe(this.#highest);
    this.low.observe(this.#lowest);
    if (times > 1) {
      this.high.observe(this.#ratio, times - 1);
      this.low.observe(this.#ratio, times - 1);
    }
    this.#highest = this.#lowest = this.#ratio;
    this.#period = period;
  }
}
