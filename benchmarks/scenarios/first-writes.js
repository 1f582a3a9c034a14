const { measureWrite } = require('./write');

const CLIENTS = 16;
/** Long enough for a server that is busy with other things. */
const MAX_MS = 60_000;

/**
 * The first writes of a process: each scenario needs a server that has just become ready. In this order: the objects that
 * are made by the first are changed by the second and removed by the third.
 */
const scenarios = ['CREATE', 'PUT', 'DELETE'].map((verb) => ({
  id: `first-${verb.toLowerCase()}`,
  title: `the first ${verb}s after a start, ${CLIENTS} clients`,
  unit: 'req/s',
  run: ({ options, ...context }) =>
    measureWrite(
      { ...context, options },
      { verb, name: 'first-{n}', clients: CLIENTS, maxRequests: options.firstWrites, maxMs: MAX_MS },
    ),
}));

module.exports = { scenarios };
