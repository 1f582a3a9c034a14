import { nodeVersionProblem } from './node-version';

/** Imported before anything else: on an older Node.js the command ends here. */
const problem = nodeVersionProblem();
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
