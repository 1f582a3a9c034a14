import { Gauge, type Registry } from 'prom-client';
import type { Logger } from './logger';
import { takeLongestWork, type HeldBy } from '../async/loop-work';
import { HistogramSeries, SeriesHistogram } from './series';

/** How often the loop is looked at. What holds it for less may go unseen. */
const TICK_MS = 20;
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From here on it is told in the log what held the loop. */
const REPORT_MS = 100;
/** One line at most in so long; it says how many were left out. */
const REPORT_EVERY_MS = 1_000;

/** How many looks share one at the processor time, which takes the system some hundred microseconds on some machines. */
const LOOKS_PER_CPU_USAGE = 50;

/**
 * Measures how late the event loop comes to its timers, for `/metrics`, and tells in the log what held it when that was
 * longer than 100 ms. A timer every 20 ms is all that it costs.
 */
export class LoopMonitor {
  readonly #series = new HistogramSeries({}, BOUNDS);
  readonly #timer: NodeJS.Timeout;
  #seenMs = performance.now();
  /** Processor time so far, and when that was seen. */
  #cpu = process.cpuUsage();
  #cpuSeenMs = this.#seenMs;
  #looks = 0;
  #longestMs = 0;
  #reportedMs = -REPORT_EVERY_MS;
  #left = 0;

  constructor(
    registry: Registry,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.#register(registry);
    takeLongestWork(this.#seenMs);
    this.#timer = setInterval(() => this.#look(), TICK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #register(registry: Registry): void {
    new SeriesHistogram({
      name: 'nodejs_eventloop_delay_seconds',
      help: 'How late the event loop came to a timer that is due every 20 ms.',
      labelNames: [],
      registry,
      bounds: BOUNDS,
      series: () => [this.#series],
    });
    const takeLongest = (): number => {
      const longest = this.#longestMs;
      this.#longestMs = 0;
      return longest / 1000;
    };
    new Gauge({
      name: 'nodejs_eventloop_delay_max_seconds',
      help: 'The longest delay of the event loop since the metrics were last read.',
      registers: [registry],
      aggregator: 'max',
      collect() {
        this.set(takeLongest());
      },
    });
    let since = performance.eventLoopUtilization();
    new Gauge({
      name: 'nodejs_eventloop_utilization',
      help: 'The share of time that the event loop was at work, not waiting, since the metrics were last read.',
      registers: [registry],
      aggregator: 'average',
      collect() {
        const now = performance.eventLoopUtilization();
        this.set(performance.eventLoopUtilization(now, since).utilization);
        since = now;
      },
    });
  }

  #look(): void {
    const now = performance.now();
    const lateMs = Math.max(now - this.#seenMs - TICK_MS, 0);
    const held = takeLongestWork(now);
    this.#series.observe(lateMs / 1000);
    if (lateMs > this.#longestMs) this.#longestMs = lateMs;
    if (lateMs >= REPORT_MS) this.#reportSometimes(now, lateMs, held);
    this.#seenMs = now;
    if (++this.#looks % LOOKS_PER_CPU_USAGE === 0) this.#takeCpu(now);
  }

  #reportSometimes(now: number, lateMs: number, { work, ms, begun }: HeldBy): void {
    if (now - this.#reportedMs < REPORT_EVERY_MS) {
      this.#left++;
      return;
    }
    const leftOut = this.#left;
    this.#left = 0;
    this.#reportedMs = now;
    this.logger.warn(
      {
        delayMs: Math.round(lateMs),
        longest: typeof work === 'string' ? { work } : work?.describeWork(),
        longestMs: Math.round(ms),
        begun,
        ...this.#takeCpu(now),
        ...(leftOut > 0 && { leftOut }),
      },
      'the event loop was held',
    );
  }

  /** Processor time of all threads since it was last taken: little of it means that the machine was busy with others. */
  #takeCpu(now: number): { readonly cpuMs: number; readonly ofMs: number } {
    const { user, system } = process.cpuUsage(this.#cpu);
    const ofMs = Math.round(now - this.#cpuSeenMs);
    this.#cpu = process.cpuUsage();
    this.#cpuSeenMs = now;
    return { cpuMs: Math.round((user + system) / 1000), ofMs };
  }
}
