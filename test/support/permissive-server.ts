import { silentLogger } from '../../src/observability/logger';

/** The options of an HTTP server on a free port of loopback where everybody is an administrator. */
export const permissiveServer = {
  nonResourceRoutes: [],
  authenticate: async () => ({ name: 'admin', groups: [] }),
  authorize: async () => ({ decision: 'allow' as const, reason: '' }),
  requestTimeoutMs: 60_000,
  port: 0,
  host: '127.0.0.1',
  logger: silentLogger,
};
