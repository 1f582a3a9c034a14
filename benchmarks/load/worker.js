/**
 * The process that makes the load, apart from the servers and from the harness. Takes `{ id, kind, job }`, answers
 * `{ id, result }` or `{ id, error }`.
 */
const { closedLoop, once } = require('./closed-loop');
const { fanOut, idleWatches } = require('./fan-out');

let closeIdle = () => undefined;

const kinds = {
  closedLoop,
  once,
  fanOut,
  openIdleWatches: async (job) => {
    closeIdle = await idleWatches(job);
    return {};
  },
  closeIdleWatches: async () => {
    closeIdle();
    return {};
  },
};

process.on('message', ({ id, kind, job }) => {
  kinds[kind](job).then(
    (result) => process.send({ id, result }),
    (error) => process.send({ id, error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
