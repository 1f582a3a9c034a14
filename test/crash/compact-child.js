// Compacts the store named by its argument, and ends as by SIGKILL at the point named by the second one.
require('../support/typescript-hook');
const fs = require('node:fs');
const lmdb = require('lmdb');

const die = () => process.kill(process.pid, 'SIGKILL');
const [path, point, after = '0'] = process.argv.slice(2);

/** Kills before or after a call of a function, when it is called for the n-th time. */
function killAt(object, name, when, wanted = () => true) {
  const whole = object[name];
  let calls = 0;
  object[name] = function (...arguments_) {
    if (!wanted(...arguments_) || calls++ < Number(after)) return whole.apply(this, arguments_);
    if (when === 'before') die();
    const result = whole.apply(this, arguments_);
    die();
    return result;
  };
}

const points = {
  'while it writes the new file': () => {
    const { open } = lmdb;
    lmdb.open = (options) => {
      const root = open(options);
      if (options.noSync) killAt(root, 'transactionSync', 'after');
      return root;
    };
  },
  'before the new file is on the disk': () => killAt(fs, 'fsyncSync', 'before'),
  'before the new file takes the name of the old one': () =>
    killAt(fs, 'renameSync', 'before', (from) => from.endsWith('.compact')),
  'after the new file has taken the name of the old one': () =>
    killAt(fs, 'renameSync', 'after', (from) => from.endsWith('.compact')),
};
points[point]?.();

const { compactStoreFile } = require('../../src/storage/embedded/embedded-store.ts');

void compactStoreFile(path, 0, () => undefined).then(() => process.stdout.write('compacted\n'));
