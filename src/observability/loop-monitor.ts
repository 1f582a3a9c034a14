import { PerformanceObserver } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';
import type { Logger } from './logger';
import { takeLongestWork, type HeldBy } from '../event-loop/loop-work';
import { HistogramSeries, SeriesHistogram } from './series';

/** How often the loop is looked at. What holds it for less may go unseen. */
const TICK_MS = 20;
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From here on it is told in the log what held the loop. */
const REPORT_MS = 100;
/** One line at most in so long; it says how many were left out. */
const REPORT_EVERY_MS = 1_000;

/** A look at the loop that came late. */
interface Delay {
  readonly fromMs: number;
  readonly toMs: number;
  readonly lateMs: number;
  /** Processor time of all threads meanwhile: little of it means that the machine was busy with others. */
  readonly cpuMs: number;
  readonly held: HeldBy;
}

/**
 * Measures how late the event loop comes to its timers, for `/metrics`, and tells in the log what held it when that was
 * longer than 100 ms. A timer every 20 ms is all that it costs.
 */
export class LoopMonitor {
  readonly #series = new HistogramSeries({}, BOUNDS);
  readonly #collections: { readonly startTime: number; readonly duration: number }[] = [];
  readonly #observer = new PerformanceObserver((list) => this.#noteCollections(list.getEntries()));
  readonly #timer: NodeJS.Timeout;
  #seenMs = performance.now();
  #seenCpu = process.cpuUsage();
  #longestMs = 0;
  #reportedMs = -REPORT_EVERY_MS;
  #left = 0;

  constructor(
    registry: Registry,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.#register(registry);
    this.#observer.observe({ entryTypes: ['gc'] });
    takeLongestWork(this.#seenMs);
    this.#timer = setInterval(() => this.#look(), TICK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#observer.disconnect();
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
    const cpu = process.cpuUsage();
    const held = takeLongestWork(now);
    this.#series.observe(lateMs / 1000);
    if (lateMs > this.#longestMs) this.#longestMs = lateMs;
    if (lateMs >= REPORT_MS) {
      const cpuMs = (cpu.user + cpu.system - this.#seenCpu.user - this.#seenCpu.system) / 1000;
      this.#reportSoon({ fromMs: this.#seenMs, toMs: now, lateMs, cpuMs, held });
    }
    this.#seenMs = now;
    this.#seenCpu = cpu;
  }

  #reportSoon(delay: Delay): void {
    if (delay.toMs - this.#reportedMs < REPORT_EVERY_MS) {
      this.#left++;
      return;
    }
    this.#reportedMs = delay.toMs;
    const leftOut = this.#left;
    this.#left = 0;
    // Garbage collections are told some turns after they were.
    setImmediate(() => setImmediate(() => this.#report(delay, leftOut)));
  }

  #report({ fromMs, toMs, lateMs, cpuMs, held: { work, ms, begun } }: Delay, leftOut: number): void {
    this.#noteCollections(this.#observer.takeRecords());
    const collected = this.#collections
      .filter(({ startTime }) => startTime >= fromMs && startTime <= toMs)
      .reduce((sum, { duration }) => sum + duration, 0);
    this.logger.warn(
      {
        delayMs: Math.round(lateMs),
        cpuMs: Math.round(cpuMs),
        garbageCollectionMs: Math.round(collected),
        longest: typeof work === 'string' ? { work } : work?.describeWork(),
        longestMs: Math.round(ms),
        begun,
        ...(leftOut > 0 && { leftOut }),
      },
      'the event loop was held',
    );
  }

  /** The last few; the others are of no interest. */
  #noteCollections(entries: readonly { readonly startTime: number; readonly duration: number }[]): void {
    for (const { startTime, duration } of entries) this.#collections.push({ startTime, duration });
    this.#collections.splice(0, this.#collections.length - 64);
  }
}
