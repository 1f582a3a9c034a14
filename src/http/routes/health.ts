import type { MaybePromise } from '../../api/maybe-promise';

/** One named check: returns when all is well, throws or rejects with the cause (which is logged, never shown). */
export interface HealthCheck {
  readonly name: string;
  readonly check: () => MaybePromise<void>;
  /** What it throws is the server's own words, which a request for this check alone may read. */
  readonly isPublic?: boolean;
}

export interface HealthReport {
  readonly healthy: boolean;
  /** `[+]ping ok`, one line a check. */
  readonly lines: readonly string[];
  readonly failures: readonly { readonly name: string; readonly error: unknown }[];
}

interface Outcome {
  readonly name: string;
  readonly excluded?: true;
  readonly error?: unknown;
}

function outcomeOf({ name, check }: HealthCheck): MaybePromise<Outcome> {
  try {
    const result = check();
    if (!(result instanceof Promise)) return { name };
    return result.then(
      () => ({ name }),
      (error: unknown) => ({ name, error }),
    );
  } catch (error) {
    return { name, error };
  }
}

/**
 * Runs every check that is not excluded, side by side; without a turn of the loop when all of them know at once. Names that
 * match no check are told in a last line.
 */
export function runChecks(checks: readonly HealthCheck[], excluded: readonly string[]): MaybePromise<HealthReport> {
  const outcomes = checks.map((check): MaybePromise<Outcome> =>
    excluded.includes(check.name) ? { name: check.name, excluded: true } : outcomeOf(check),
  );
  if (outcomes.some((outcome) => outcome instanceof Promise)) {
    return Promise.all(outcomes.map(async (outcome) => outcome)).then((known) => report(checks, known, excluded));
  }
  return report(checks, outcomes as readonly Outcome[], excluded);
}

function report(
  checks: readonly HealthCheck[],
  outcomes: readonly Outcome[],
  excluded: readonly string[],
): HealthReport {
  const failures = outcomes.flatMap((outcome) =>
    'error' in outcome ? [{ name: outcome.name, error: outcome.error }] : [],
  );
  const unknown = excluded.filter((name) => !checks.some((check) => check.name === name)).sort();
  return {
    healthy: failures.length === 0,
    failures,
    lines: [
      ...outcomes.map((outcome) => {
        if (outcome.excluded) return `[+]${outcome.name} excluded: ok`;
        return 'error' in outcome ? `[-]${outcome.name} failed: reason withheld` : `[+]${outcome.name} ok`;
      }),
      ...(unknown.length === 0
        ? []
        : [
            `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(', ')}`,
          ]),
    ],
  };
}

/** `ok`, or the lines when asked for (`verbose`) or when something is wrong. `endpoint`: livez, readyz or healthz. */
export function printReport(endpoint: string, { healthy, lines }: HealthReport, verbose: boolean): string {
  if (healthy && !verbose) return 'ok';
  return `${lines.join('\n')}\n${endpoint} check ${healthy ? 'passed' : 'failed'}\n`;
}
