/**
 * Writes `generated/build-info.json`, from which `/version` says what was built: the commit, whether the tree had changes
 * (`clean` or `dirty`), and when. An archive made by git carries its commit in this file (`.gitattributes`). Of sources that
 * are neither, nothing is claimed: the commit is git's null id, and the state of the tree is empty. `SOURCE_DATE_EPOCH`
 * (seconds) stands for the time of a reproducible build. `--out DIR` writes below another folder than the repository, `--from DIR`
 * describes another one (for tests).
 */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';

const NO_COMMIT = '0'.repeat(40);
const ARCHIVED_COMMIT = '$Format:%H$';

function main(args: readonly string[]): void {
  const repository = path.resolve(__dirname, '..');
  const from = option(args, '--from') ?? repository;
  const file = path.join(option(args, '--out') ?? repository, 'generated', 'build-info.json');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify({ ...commitOf(from), buildDate: buildDate() })}\n`);
}

function option(args: readonly string[], name: string): string | undefined {
  const index = args.indexOf(name);
  return index < 0 ? undefined : args[index + 1];
}

function commitOf(folder: string): { readonly gitCommit: string; readonly gitTreeState: string } {
  try {
    // Not the commit of a repository that happens to lie around the sources.
    if (fs.realpathSync(git(folder, 'rev-parse', '--show-toplevel')) !== fs.realpathSync(folder)) throw new Error();
    const gitTreeState = git(folder, 'status', '--porcelain') === '' ? 'clean' : 'dirty';
    return { gitCommit: git(folder, 'rev-parse', 'HEAD'), gitTreeState };
  } catch {
    const isArchive = /^[0-9a-f]{40}$/.test(ARCHIVED_COMMIT);
    return isArchive
      ? { gitCommit: ARCHIVED_COMMIT, gitTreeState: 'archive' }
      : { gitCommit: NO_COMMIT, gitTreeState: '' };
  }
}

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** RFC 3339, in whole seconds. */
function buildDate(): string {
  const epoch = Number(process.env.SOURCE_DATE_EPOCH || NaN);
  const time = Number.isFinite(epoch) ? new Date(epoch * 1000) : new Date();
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}

main(process.argv.slice(2));
