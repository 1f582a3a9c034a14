import type { Logger } from '../../observability/logger';
import type { NonResourceRoute } from '../dependencies';
import { textReply, type Reply } from '../reply';
import { printReport, runChecks, type HealthCheck } from './health';

/** The checks of each endpoint, in the order in which they are listed. */
export interface HealthChecks {
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
  readonly healthz: readonly HealthCheck[];
}

/** `/livez`, `/readyz`, `/healthz` and each single check below them (spec, "Health endpoints"). Any method answers. */
export function healthRoutes(checks: HealthChecks, logger: Logger): readonly NonResourceRoute[] {
  // Probes fail as a matter of course while a server starts and ends.
  const tell = (endpoint: string, check: string, error: unknown): void =>
    logger.info({ check, cause: error instanceof Error ? error.message : String(error) }, `${endpoint} check failed`);
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  return Object.entries(checks).flatMap(([endpoint, ofEndpoint]: [string, readonly HealthCheck[]]) => {
    const whole: NonResourceRoute = {
      path: `/${endpoint}`,
      methods,
      handler: async ({ info: { query } }): Promise<Reply> => {
        const report = await runChecks(ofEndpoint, query.all('exclude'));
        for (const { name, error } of report.failures) tell(endpoint, name, error);
        return textReply(report.healthy ? 200 : 500, printReport(endpoint, report, query.has('verbose')));
      },
    };
    const single = ofEndpoint.map((check): NonResourceRoute => ({
      path: `/${endpoint}/${check.name}`,
      methods,
      handler: async (): Promise<Reply> => {
        const { healthy, failures } = await runChecks([check], []);
        if (healthy) return textReply(200, 'ok');
        const [failure] = failures;
        tell(endpoint, check.name, failure?.error);
        return textReply(500, `internal server error: ${check.name} failed: reason withheld\n`);
      },
    }));
    return [whole, ...single];
  });
}
