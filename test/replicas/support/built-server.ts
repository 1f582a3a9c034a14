import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { transformFileSync } from '@swc/core';

const ROOT = join(__dirname, '..', '..', '..');
/** Below node_modules, so that the built files find their libraries. */
const BUILDS = join(ROOT, 'node_modules', '.cache', 'sternpost-test-builds');
const KEEP_BUILDS_MS = 3_600_000;

/**
 * The sources as they are now, in JavaScript: the path of the command's file. `dist/` may be older than the sources, and
 * transforming them anew for each process that a test starts would take seconds each time. STERNPOST_TEST_COMMAND names
 * another build, to test that.
 */
export function buildServer(): string {
  const given = process.env['STERNPOST_TEST_COMMAND'];
  if (given !== undefined) return given;
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => (path.endsWith('.ts') && !path.endsWith('.test.ts')) || path.endsWith('.json'))
    .sort();
  const hash = createHash('sha1');
  for (const path of sources) hash.update(path).update(readFileSync(join(ROOT, 'src', path)));
  const folder = join(BUILDS, hash.digest('hex').slice(0, 16));
  const command = join(folder, 'dist', 'cli', 'main.js');
  if (existsSync(command)) return command;

  // Built aside and then renamed, since another worker may be at it too.
  const draft = `${folder}-${process.pid}`;
  for (const path of sources) {
    const from = join(ROOT, 'src', path);
    const to = join(draft, 'dist', path.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(to), { recursive: true });
    if (path.endsWith('.json')) cpSync(from, to);
    else {
      const parser = { syntax: 'typescript' } as const;
      writeFileSync(
        to,
        transformFileSync(from, { jsc: { parser, target: 'es2022' }, module: { type: 'commonjs' } }).code,
      );
    }
  }
  cpSync(join(ROOT, 'package.json'), join(draft, 'package.json'));
  symlinkSync(join(ROOT, 'generated'), join(draft, 'generated'));
  try {
    renameSync(draft, folder);
  } catch {
    rmSync(draft, { recursive: true });
  }
  removeOldBuilds();
  return command;
}

function removeOldBuilds(): void {
  for (const name of readdirSync(BUILDS)) {
    const path = join(BUILDS, name);
    if (Date.now() - statSync(path).mtimeMs > KEEP_BUILDS_MS) rmSync(path, { recursive: true, force: true });
  }
}
