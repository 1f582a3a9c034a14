/**
 * Makes a release out of a clean tree on the branch main: `npm run release 0.2.0`. The version goes into package.json, what CHANGELOG.md has under
 * "Unreleased" gets the version and the date as its title, and a commit and a tag are made, the section being the tag's message.
 * Nothing leaves the machine: what to push and publish is printed. `--check` does none of it and says whether it could be done (for CI).
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { nextVersionProblem, releasedChangelog, unreleasedSection } from './release/changelog';

const repository = path.resolve(__dirname, '..');
const CHANGELOG = path.join(repository, 'CHANGELOG.md');

function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

/** What would be published, without asking the registry. */
function pack(): string {
  const [packed] = JSON.parse(run('npm', 'pack', '--dry-run', '--ignore-scripts', '--json')) as [
    { readonly id: string; readonly size: number; readonly entryCount: number },
  ];
  return `${packed.id}: ${packed.entryCount} files, ${Math.round(packed.size / 1024)} KiB packed`;
}

function currentVersion(): string {
  return (JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as { version: string }).version;
}

function check(): void {
  const entries = unreleasedSection(readFileSync(CHANGELOG, 'utf8'));
  console.log(`${pack()}; ${entries === '' ? 'nothing' : `${entries.split('\n- ').length} entries`} unreleased`);
}

function release(version: string): void {
  const text = readFileSync(CHANGELOG, 'utf8');
  const problem = nextVersionProblem(currentVersion(), version);
  if (problem !== undefined) throw new Error(problem);
  const entries = unreleasedSection(text);
  if (entries === '') throw new Error('CHANGELOG.md has nothing under "Unreleased"');
  if (run('git', 'rev-parse', '--abbrev-ref', 'HEAD') !== 'main')
    throw new Error('releases are made on the branch main');
  if (run('git', 'status', '--porcelain') !== '') throw new Error('the tree has changes');
  run('npm', 'version', version, '--no-git-tag-version', '--ignore-scripts');
  writeFileSync(CHANGELOG, releasedChangelog(text, version, new Date()));
  run('npm', 'run', '--silent', 'build');
  console.log(pack());
  run('git', 'commit', '--all', '--message', `Release ${version}`);
  run('git', 'tag', '--annotate', `v${version}`, '--cleanup=verbatim', '--message', `${version}\n\n${entries}\n`);
  console.log(`Tagged v${version}. When it is right:\n  git push origin main v${version}\n  npm publish`);
}

function main([wanted = '']: readonly string[]): void {
  if (wanted === '--check') check();
  else release(wanted);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
