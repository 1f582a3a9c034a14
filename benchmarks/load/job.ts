/** What the harness tells the process that makes the load, and hears of it: plain data. */

export type Protocol = 'http/1.1' | 'h2';

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** As ALPN calls it; HTTP/1.1 when absent. */
  readonly protocol?: Protocol;
}

/** `{n}` in path and body stands for a number that counts up, `{now}` in the body for the time of sending. */
export interface LoadRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ClosedLoopJob {
  readonly target: Target;
  readonly request: LoadRequest;
  /** The numbers are first, first + 1 ... and begin anew after `numbers`. */
  readonly first?: number;
  readonly numbers?: number;
  readonly clients: number;
  readonly maxRequests?: number;
  readonly maxMs: number;
  /** Is not counted. */
  readonly warmUpMs?: number;
  /** What every response must have, or a list of what it may have; anything else fails the job. */
  readonly status: number | readonly number[];
}

/** Milliseconds of latency. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface ClosedLoopResult extends Latencies {
  readonly requests: number;
  /** With those of the warm-up. */
  readonly used: number;
  readonly perSecond: number;
  readonly bytesPerSecond: number;
}

export interface WatchJob {
  readonly target: Target;
  /** `{n}` in the path stands for the watcher's number. */
  readonly watch: LoadRequest;
  readonly watchers: number;
}

export interface FanOutJob extends WatchJob {
  readonly warmUpWrites: number;
  readonly writes: ClosedLoopJob & { readonly maxRequests: number };
}

export interface FanOutResult extends Latencies {
  readonly perSecond: number;
  readonly writesPerSecond: number;
  readonly events: number;
  readonly warmUpEvents: number;
}

export interface OnceJob {
  readonly target: Target;
  readonly request: LoadRequest;
}

export interface OnceResult {
  readonly status: number;
  /** The text of HTTP/1.1; empty over HTTP/2. */
  readonly head: string;
  /** As base64. */
  readonly body: string;
}

/** What the process does, by name. */
export interface LoadKinds {
  readonly closedLoop: (job: ClosedLoopJob) => Promise<ClosedLoopResult>;
  readonly once: (job: OnceJob) => Promise<OnceResult>;
  readonly fanOut: (job: FanOutJob) => Promise<FanOutResult>;
  readonly openIdleWatches: (job: WatchJob) => Promise<void>;
  readonly closeIdleWatches: () => Promise<void>;
}
