import { readFileSync } from 'node:fs';
import { packageFile } from '../api/package-file';

/** This much must load and run on releases that are too old, so that they can be told. */

/** One sentence when this Node.js is older than the package allows (`engines` in package.json). */
export function nodeVersionProblem(running = process.versions.node, engines = wantedNode()): string | undefined {
  const least = engines.replace(/^>=/, '');
  const [major = 0, minor = 0] = running.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined;
  return `Sternpost needs Node.js ${least} or later; this is ${running}.`;
}

function wantedNode(): string {
  const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { engines: { node: string } };
  return manifest.engines.node;
}
