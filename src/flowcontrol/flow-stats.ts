import { HistogramSeries } from '../observability/series';

const DURATION_BOUNDS: readonly number[] = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const LENGTH_BOUNDS: readonly number[] = [0, 10, 25, 50, 100, 250, 500, 1000];
const SEAT_BOUNDS: readonly number[] = [1, 2, 4, 10];
export const BOUNDS = { duration: DURATION_BOUNDS, length: LENGTH_BOUNDS, seats: SEAT_BOUNDS };

/** Why a request was not executed, in the words of the metrics. */
export type Rejection = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

/** What has become of the requests of one flow schema in one priority level. */
export class FlowStats {
  readonly labels: { readonly flow_schema: string; readonly priority_level: string };
  waiting = 0;
  executing = 0;
  dispatched = 0;
  readonly rejected: Record<Rejection, number> = {
    'queue-full': 0,
    'concurrency-limit': 0,
    'time-out': 0,
    cancelled: 0,
  };
  readonly execution: HistogramSeries;
  readonly waitedToRun: HistogramSeries;
  readonly waitedInVain: HistogramSeries;
  readonly queueLength: HistogramSeries;
  readonly seats: HistogramSeries;

  constructor(schema: string, level: string) {
    this.labels = { flow_schema: schema, priority_level: level };
    this.execution = new HistogramSeries(this.labels, DURATION_BOUNDS);
    this.waitedToRun = new HistogramSeries({ ...this.labels, execute: 'true' }, DURATION_BOUNDS);
    this.waitedInVain = new HistogramSeries({ ...this.labels, execute: 'false' }, DURATION_BOUNDS);
    this.queueLength = new HistogramSeries(this.labels, LENGTH_BOUNDS);
    this.seats = new HistogramSeries(this.labels, SEAT_BOUNDS);
  }

  /** Any of its requests has come so far. */
  get isUsed(): boolean {
    return this.dispatched > 0 || this.waiting > 0 || Object.values(this.rejected).some((count) => count > 0);
  }
}
