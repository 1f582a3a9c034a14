import { existsSync, readFileSync, statSync } from 'node:fs';
import { DEFAULT_RELEASE, type KubernetesRelease } from '../api/kubernetes-release';
import { packageFile } from '../api/package-file';
import { formatDate } from '../api/time/rfc3339';

interface Package {
  readonly version: string;
}

/** What scripts/build-info.ts writes. */
interface BuildInfo {
  /** 40 hex digits; git's null id where no commit is known. */
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
}

/** The package's version, from its package.json. */
export const VERSION = (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as Package).version;

/** The answer of `/version`. */
export function versionInfo(
  { major, minor }: KubernetesRelease = DEFAULT_RELEASE,
  build: BuildInfo = buildInfo(),
): Readonly<Record<string, string>> {
  return {
    major,
    minor,
    gitVersion: `v${major}.${minor}.0+sternpost-${VERSION}`,
    gitCommit: build.gitCommit,
    gitTreeState: build.gitTreeState,
    buildDate: build.buildDate,
    goVersion: `node ${process.version}`,
    compiler: 'tsc',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}

function buildInfo(): BuildInfo {
  const file = packageFile('generated', 'build-info.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as BuildInfo;
  // Sources that run unbuilt.
  return { gitCommit: '0'.repeat(40), gitTreeState: '', buildDate: formatDate(statSync(__filename).mtime) };
}
