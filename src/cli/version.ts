import { readFileSync, statSync } from 'node:fs';
import { packageFile } from '../api/package-file';
import { formatDate } from '../api/time/rfc3339';

interface Package {
  readonly version: string;
}

/** The package's version, from its package.json. */
export const VERSION = (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as Package).version;

/** The release of the Kubernetes API that clients may count on. */
export const KUBERNETES_RELEASE = { major: '1', minor: '21' } as const;

/** The answer of `/version`. */
export function versionInfo(): Readonly<Record<string, string>> {
  const { major, minor } = KUBERNETES_RELEASE;
  return {
    major,
    minor,
    gitVersion: `v${major}.${minor}.0+sternpost-${VERSION}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: formatDate(statSync(__filename).mtime),
    goVersion: `node ${process.version}`,
    compiler: 'tsc',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
