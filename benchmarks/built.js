const { join, resolve } = require('node:path');

const index = process.argv.indexOf('--dist');

/** The folder of the build to measure: the project's own, or the one that `--dist` names. */
const dist = index < 0 ? join(__dirname, '..', 'dist') : resolve(process.argv[index + 1] ?? '');

/** A module of that build. */
const load = (path) => require(join(dist, path));

module.exports = { dist, load };
