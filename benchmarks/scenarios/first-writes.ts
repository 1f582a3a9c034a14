import type { Scenario } from './scenario';
import { measureWrite } from './write';

const CLIENTS = 16;
/** Long enough for a server that is busy with other things. */
const MAX_MS = 60_000;

/**
 * The first writes of a process: each scenario needs a server that has just become ready. In this order: the objects that
 * are made by the first are changed by the second and removed by the third.
 */
export const scenarios: readonly Scenario[] = ['CREATE', 'PUT', 'DELETE'].map((verb) => ({
  id: `first-${verb.toLowerCase()}`,
  title: `the first ${verb}s after a start, ${CLIENTS} clients`,
  unit: 'req/s',
  run: (context) =>
    measureWrite(context, {
      verb,
      name: 'first-{n}',
      clients: CLIENTS,
      maxRequests: context.options.firstWrites,
      maxMs: MAX_MS,
    }),
}));
