import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { Logger } from '../../observability/logger';
import type { NonResourceRoute } from './route';
import { textResponse, type ApiResponse } from '../response/api-response';
import { printReport, runChecks, type HealthCheck, type HealthReport } from './health';

/** The checks of each endpoint, in the order in which they are listed. */
export interface HealthChecks {
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
  readonly healthz: readonly HealthCheck[];
}

const OK = textResponse(200, 'ok');
/** A check that fails is logged this often at most: any client may probe, as often as it likes. */
const LOG_EVERY_MS = 1_000;

/** `/livez`, `/readyz`, `/healthz` and each single check below them (spec, "Health endpoints"). Any method answers. */
export function healthRoutes(checks: HealthChecks, logger: Logger): readonly NonResourceRoute[] {
  const loggedAt = new Map<string, number>();
  // Probes fail as a matter of course while a server starts and ends.
  const tell = (endpoint: string, { failures }: HealthReport): void => {
    for (const { name, error } of failures) {
      const now = performance.now();
      if (now - (loggedAt.get(`${endpoint}/${name}`) ?? -LOG_EVERY_MS) < LOG_EVERY_MS) continue;
      loggedAt.set(`${endpoint}/${name}`, now);
      const cause = error instanceof Error ? error.message : String(error);
      logger.info({ check: name, cause }, `${endpoint} check failed`);
    }
  };
  return Object.entries(checks).flatMap(([endpoint, ofEndpoint]: [string, readonly HealthCheck[]]) => {
    const whole: NonResourceRoute = {
      path: `/${endpoint}`,
      methods: 'any',
      handler: ({ info: { query } }): MaybePromise<ApiResponse> =>
        whenKnown(runChecks(ofEndpoint, query.all('exclude')), (report) => {
          tell(endpoint, report);
          const verbose = query.has('verbose');
          if (report.healthy && !verbose) return OK;
          return textResponse(report.healthy ? 200 : 500, printReport(endpoint, report, verbose));
        }),
    };
    const prefix = `/${endpoint}/`;
    const byName = new Map(ofEndpoint.map((check) => [check.name, check]));
    const single: NonResourceRoute = {
      path: prefix,
      prefix: true,
      unlisted: true,
      lists: ofEndpoint.map(({ name }) => `${prefix}${name}`),
      methods: 'any',
      handler: ({ info: { path } }): MaybePromise<ApiResponse | undefined> => {
        const check = byName.get(path.slice(prefix.length));
        if (check === undefined) return undefined;
        return whenKnown(runChecks([check], []), (report) => {
          if (report.healthy) return OK;
          tell(endpoint, report);
          const cause = report.failures[0]?.error;
          const isTold = check.isPublic === true && cause instanceof Error;
          const text = isTold ? cause.message : `${check.name} failed: reason withheld`;
          return textResponse(500, `internal server error: ${text}\n`);
        });
      },
    };
    return [whole, single];
  });
}
