/** One named check; resolves when all is well, rejects with the cause (which is logged, never shown). */
export interface HealthCheck {
  readonly name: string;
  readonly check: (signal: AbortSignal) => Promise<void>;
}

export interface HealthReport {
  readonly healthy: boolean;
  /** `[+]ping ok`, one line a check. */
  readonly lines: readonly string[];
  readonly failures: readonly { readonly name: string; readonly error: unknown }[];
}

/** Upstream gives etcd, the slowest of its checks, this long. */
const CHECK_TIMEOUT_MS = 2_000;

async function outcome({ check }: HealthCheck): Promise<{ readonly error?: unknown }> {
  try {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`not answered within ${CHECK_TIMEOUT_MS} ms`)));
    });
    await Promise.race([check(signal), late]);
    return {};
  } catch (error) {
    return { error };
  }
}

/** Runs every check that is not excluded, side by side. Names that match no check are told in a last line. */
export async function runChecks(checks: readonly HealthCheck[], excluded: readonly string[]): Promise<HealthReport> {
  const outcomes = await Promise.all(
    checks.map(async (check) => ({ name: check.name, ...(excluded.includes(check.name) ? {} : await outcome(check)) })),
  );
  const failures = outcomes.flatMap(({ name, error }) => (error === undefined ? [] : [{ name, error }]));
  const unknown = excluded.filter((name) => !checks.some((check) => check.name === name)).sort();
  return {
    healthy: failures.length === 0,
    failures,
    lines: [
      ...outcomes.map(({ name, error }) => {
        if (excluded.includes(name)) return `[+]${name} excluded: ok`;
        return error === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
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
export function printReport(endpoint: string, report: HealthReport, verbose: boolean): string {
  if (report.healthy && !verbose) return 'ok';
  return `${report.lines.join('\n')}\n${endpoint} check ${report.healthy ? 'passed' : 'failed'}\n`;
}
