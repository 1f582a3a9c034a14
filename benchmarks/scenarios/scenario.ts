import type { ClosedLoopJob, ClosedLoopResult } from '../load/job';
import type { LoadClient } from '../load/load-client';
import type { BenchmarkOptions } from '../options';
import type { RunningServer } from '../servers/api-servers';

/** Measures with the server's processor time. */
export type Measure = (job: ClosedLoopJob) => Promise<ClosedLoopResult & { readonly cpuMicros: number }>;

/** What a scenario has to work with. */
export interface Context {
  readonly load: LoadClient;
  /** For what goes on beside that. */
  readonly listLoad: LoadClient;
  readonly server: RunningServer;
  readonly options: BenchmarkOptions;
  readonly measure: Measure;
}

/** What one scenario has measured in one round: `value` in its unit, or `perSecond`. */
export interface Measured {
  readonly value?: number;
  readonly perSecond?: number;
  readonly p50?: number;
  readonly p99?: number;
  readonly cpuMicros?: number;
}

export interface ScenarioTitle {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** "higher" when absent. */
  readonly better?: 'higher' | 'lower';
}

export interface Scenario extends ScenarioTitle {
  /** Throws when a response is not as it should be, before it is timed. */
  readonly check?: (context: Context) => Promise<void>;
  readonly run: (context: Context) => Promise<Measured>;
}
