import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HARNESS = join(__dirname, '..', 'support', 'failing-sync.pl');
const CHILD = join(__dirname, 'one-write-child.js');

interface SystemCalls {
  readonly prctl: number;
  /** fsync, fdatasync and msync. */
  readonly syncs: readonly number[];
}

/** Linux numbers them for each kind of processor. */
const systemCalls: Readonly<Record<string, SystemCalls>> = {
  x64: { prctl: 157, syncs: [74, 75, 26] },
  arm64: { prctl: 167, syncs: [82, 83, 227] },
};

/** The command and its arguments, for a run in which no sync succeeds; undefined where that cannot be had. */
function withoutSyncs(command: readonly string[]): readonly string[] | undefined {
  const calls = process.platform === 'linux' ? systemCalls[process.arch] : undefined;
  if (calls === undefined) return undefined;
  return ['perl', HARNESS, String(calls.prctl), ...calls.syncs.map(String), '--', ...command];
}

function run(command: readonly string[] | undefined): { readonly status: number | null; readonly stdout: string } {
  const [program, ...arguments_] = command ?? ['false'];
  return spawnSync(program!, arguments_, { encoding: 'utf8', timeout: 20_000, killSignal: 'SIGKILL' });
}

/** Not without seccomp, or without perl. */
const describeWithFailingSyncs = run(withoutSyncs(['true'])).status === 0 ? describe : describe.skip;

/**
 * What was not synced survives a killed process, so killing none shows whether a store syncs. A disk that fails to sync
 * does: the store has to tell its writers.
 */
describeWithFailingSyncs('an embedded store whose disk keeps nothing', () => {
  let path: string;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sternpost-unsynced-'));
    path = join(folder, 'store.db');
    expect(run([process.execPath, CHILD, path]).stdout).toBe('acknowledged\n');
  }, 30_000);

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it('acknowledges nothing', () => {
    expect(run(withoutSyncs([process.execPath, CHILD, path])).stdout).toMatch(
      /^refused: .*cannot write: Input\/output error\n$/,
    );
  }, 30_000);

  it('would be found out if it acknowledged without waiting for the disk', () => {
    expect(run(withoutSyncs([process.execPath, CHILD, path, 'unsynced'])).stdout).toBe('acknowledged\n');
  }, 30_000);
});
