import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { versionInfo } from './version';

const SCRIPT = resolve(__dirname, '../../scripts/build-info.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-version-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=someone', '-c', 'user.email=someone@example.com', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' }).trim();
}

interface Info {
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
}

function infoOf(source: string, environment: NodeJS.ProcessEnv = {}, script = SCRIPT): Info {
  const out = mkdtempSync(join(tmpdir(), 'sternpost-build-info-'));
  try {
    execFileSync(process.execPath, ['--require', 'tsx/cjs', script, '--from', source, '--out', out], {
      env: { ...process.env, ...environment },
    });
    return JSON.parse(readFileSync(join(out, 'generated/build-info.json'), 'utf8')) as Info;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

describe('/version', () => {
  it('names the commit that was built, 40 hex digits, and the time of the build', () => {
    const { gitCommit, buildDate } = versionInfo();
    expect(gitCommit).toMatch(/^[0-9a-f]{40}$/);
    expect(buildDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it('tells the newest release whose stable API is served whole, or the one that is asked for', () => {
    expect(versionInfo()).toMatchObject({ major: '1', minor: '32' });
    // Helm compares it with a chart's kubeVersion, such as ">=1.25.0-0".
    expect(versionInfo().gitVersion).toMatch(/^v1\.32\.0\+sternpost-/);
    expect(versionInfo({ major: '1', minor: '21' })).toMatchObject({
      minor: '21',
      gitVersion: expect.stringMatching(/^v1\.21\.0\+/) as string,
    });
  });

  it('tells a clean tree from one with changes', () => {
    git('init', '-q');
    writeFileSync(join(folder, 'a'), '1');
    git('add', '.');
    git('commit', '-qm', 'first');
    const gitCommit = git('rev-parse', 'HEAD');
    expect(infoOf(folder)).toMatchObject({ gitCommit, gitTreeState: 'clean' });
    writeFileSync(join(folder, 'a'), '2');
    expect(infoOf(folder)).toMatchObject({ gitCommit, gitTreeState: 'dirty' });
  });

  it('claims no commit for sources outside git, nor that of a repository around them', () => {
    expect(infoOf(folder)).toMatchObject({ gitCommit: '0'.repeat(40), gitTreeState: '' });
    expect(infoOf(join(__dirname))).toMatchObject({ gitCommit: '0'.repeat(40), gitTreeState: '' });
  });

  it('knows the commit of an archive', () => {
    git('init', '-q');
    cpSync(SCRIPT, join(folder, 'build-info.ts'));
    writeFileSync(join(folder, '.gitattributes'), 'build-info.ts export-subst\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    git('archive', '-o', 'a.tar', 'HEAD');
    const gitCommit = git('rev-parse', 'HEAD');
    const unpacked = mkdtempSync(join(tmpdir(), 'sternpost-archive-'));
    try {
      execFileSync('tar', ['-xf', join(folder, 'a.tar'), '-C', unpacked]);
      const archived = infoOf(unpacked, {}, join(unpacked, 'build-info.ts'));
      expect(archived).toMatchObject({ gitCommit, gitTreeState: 'archive' });
    } finally {
      rmSync(unpacked, { recursive: true, force: true });
    }
  });

  it('takes the time of a reproducible build from SOURCE_DATE_EPOCH', () => {
    expect(infoOf(folder, { SOURCE_DATE_EPOCH: '86400' }).buildDate).toBe('1970-01-02T00:00:00Z');
  });
});
