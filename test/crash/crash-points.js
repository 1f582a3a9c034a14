// Ends the process, as SIGKILL does, at a named point of the embedded store's code.
require('../support/typescript-hook');
const { LmdbFile } = require('../../src/storage/embedded/database.ts');

const die = () => process.kill(process.pid, 'SIGKILL');

/** Whether a commit is a step of a compaction: it forgets history, or frees what was forgotten. */
const compacts = (file, state) =>
  state.compacted !== file.state().compacted || state.scrubbed !== file.state().scrubbed;

const points = {
  'before a commit': () => die(),
  'in the middle of a commit': (commit) => {
    // LMDB writes in a thread of its own: by the next turn it is at it.
    void commit();
    setImmediate(die);
    return new Promise(() => undefined);
  },
  'after a commit that nobody has heard of': (commit) => commit().then(die),
  'before a step of a compaction': (commit, compacting) => (compacting ? die() : commit()),
  'in the middle of a step of a compaction': (commit, compacting) =>
    compacting ? points['in the middle of a commit'](commit) : commit(),
  'after a step of a compaction': (commit, compacting) => (compacting ? commit().then(die) : commit()),
};

/** The process ends when it comes to this point after so many commits. */
function armCrashPoint(name, after) {
  if (!Object.hasOwn(points, name)) throw new Error(`there is no crash point "${name}"`);
  const { commit } = LmdbFile.prototype;
  let commits = 0;
  LmdbFile.prototype.commit = function (changes, state) {
    const whole = () => commit.call(this, changes, state);
    return commits++ < after ? whole() : points[name](whole, compacts(this, state));
  };
}

module.exports = { armCrashPoint };
