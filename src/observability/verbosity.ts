import type { LevelWithSilent } from 'pino';
import type { Logger } from './logger';

/** kube-apiserver logs requests from this verbosity on. */
const REQUESTS = 3;
const DEBUG = 4;
const TRACE = 6;
/** Levels at which requests would not be seen. */
const QUIET: readonly LevelWithSilent[] = ['warn', 'error', 'fatal', 'silent'];

/** How much is logged (`-v`), which may be changed while the server runs. */
export class Verbosity {
  readonly #logger: Pick<Logger, 'level'>;
  readonly #base: LevelWithSilent;
  readonly #alwaysLogsRequests: boolean;
  #current = 0;

  constructor(logger: Pick<Logger, 'level'>, verbosity: number, alwaysLogsRequests: boolean) {
    this.#logger = logger;
    this.#base = logger.level as LevelWithSilent;
    this.#alwaysLogsRequests = alwaysLogsRequests;
    this.set(verbosity);
  }

  get logsRequests(): boolean {
    return this.#alwaysLogsRequests || this.#current >= REQUESTS;
  }

  /** From 3 on requests are logged, from 4 on what helps to find faults, from 6 on everything. */
  set(verbosity: number): void {
    this.#current = verbosity;
    if (verbosity >= TRACE) this.#logger.level = 'trace';
    else if (verbosity >= DEBUG) this.#logger.level = 'debug';
    else if (verbosity >= REQUESTS && QUIET.includes(this.#base)) this.#logger.level = 'info';
    else this.#logger.level = this.#base;
  }
}
