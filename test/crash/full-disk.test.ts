import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CHILD = join(__dirname, 'full-disk-child.js');
/** What no file may be larger than, in blocks of 512 bytes: a disk that is full when it comes to that. */
const LIMIT_BLOCKS = 4096;
/** 32 KiB: room for the lock file, and for less of a store than it has when it is made. */
const SMALLEST_BLOCKS = 64;

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Without its signal the limit is an error of the write, as that of a full disk is. */
function run(path: string, blocks: number | undefined): Outcome {
  const limit = blocks === undefined ? '' : `trap '' XFSZ; ulimit -f ${blocks};`;
  return spawnSync('sh', ['-c', `${limit} exec "$0" "$1" "$2"`, process.execPath, CHILD, path], {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
}

describe('an embedded store whose file can grow no more', () => {
  it('refuses writes with words of its own, goes on reading, deletes, and takes writes when there is space', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sternpost-full-'));
    try {
      const path = join(folder, 'registry.mdb');
      const full = run(path, LIMIT_BLOCKS);
      expect(full.stdout.split('\n').slice(0, -1)).toEqual([
        'refused: etcdserver: mvcc: database space exceeded: the disk is full',
        'shortage: true',
        'healthy: true',
        'read all: true',
        'warnings: 1',
      ]);
      expect(full.status).toBe(0);
      // LMDB's own lines, without a stack.
      expect(full.stderr).not.toMatch(/^ +at /m);
      expect(run(path, undefined).stdout).toMatch(/^written: [1-9]\d*\nshortage: false\n/);
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 90_000);

  it('is not made: the start names the file and says what to do, without a stack, and the next one makes it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sternpost-full-'));
    try {
      const path = join(folder, 'registry.mdb');
      for (let attempt = 0; attempt < 2; attempt++) {
        expect(run(path, SMALLEST_BLOCKS)).toMatchObject({
          stdout: `not opened: ${path}: cannot make the store file. Its disk is full: free some space and start again\n`,
          stderr: '',
        });
      }
      expect(run(path, undefined).stdout).toMatch(/^written: [1-9]\d*\nshortage: false\n/);
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 90_000);
});
